"""The commands of a workflow."""
