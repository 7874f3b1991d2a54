"""Prompts: short texts by name in each language, which users can replace. Data, not code."""
