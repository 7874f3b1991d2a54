"""Reads the reports of a test command: which tests passed, and the coverage."""
