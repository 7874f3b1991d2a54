"""Finds and hides secrets. Only this package creates `Redacted` values."""
