"""Imports the workspace of another tool as workflows and loops."""
