"""Hash-linked records of runs: written once, and verified before they are trusted."""
