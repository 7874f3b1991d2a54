"""What a test command left behind, as values: which tests passed, and how much was covered. Knows nothing of loops."""
