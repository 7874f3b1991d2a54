"""What agents are told: short texts by name, in each language, and the user's own in their place. Data, not code."""
