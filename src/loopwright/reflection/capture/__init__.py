"""Taking a reflection: what the hook does at the end of every turn, so standard library only, and little of it."""
