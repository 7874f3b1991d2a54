"""Spec deltas and living specs in OpenSpec grammar: read, write, merge. Pure; reads and writes no files."""
