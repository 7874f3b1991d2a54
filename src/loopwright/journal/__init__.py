"""The append-only journal: facts in order, each bound to the one before it."""
