"""A plan: what to run, read strictly from YAML."""
