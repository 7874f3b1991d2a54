"""Shell commands as agents."""
