"""The tests that a file defines, by its syntax tree: their bodies, and what the names in them mean."""
