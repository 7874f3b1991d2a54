"""Spec deltas and living specs in OpenSpec grammar: read, merge, write. Pure; reads and writes no files."""
