"""Source text as a syntax tree with byte positions, and edits by position."""
