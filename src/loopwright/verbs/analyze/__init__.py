"""The experiments that decide whether self-reports deserve trust."""
