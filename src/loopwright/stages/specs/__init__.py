"""The living specs: what they say, and whether it still holds."""
