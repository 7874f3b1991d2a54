"""The commands of living specs."""
