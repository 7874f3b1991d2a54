"""Spec deltas and living specs in OpenSpec grammar: read, written, merged. Pure; no file is touched here."""
