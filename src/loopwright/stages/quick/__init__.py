"""How a workflow of `loopwright do` is begun, concluded and decided."""
