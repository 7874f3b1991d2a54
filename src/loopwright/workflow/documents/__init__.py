"""The documents of a workflow that people and agents write: read with line numbers, written without loss."""
