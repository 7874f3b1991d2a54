"""The documents of a workflow, as people and agents write them: read with line numbers, written without loss."""
