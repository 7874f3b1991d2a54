"""Captures a reflection. The hook runs this at the end of every turn, so it uses little of the standard library."""
