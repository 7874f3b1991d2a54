"""Hash-linked records of runs: written once, verified by anyone, never believed unread."""
