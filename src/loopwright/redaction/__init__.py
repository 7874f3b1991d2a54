"""Finding and hiding secrets: the only package that can make a `Redacted` value."""
