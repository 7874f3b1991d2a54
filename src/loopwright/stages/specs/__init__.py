"""The living specs: their requirements, and whether the project still meets them."""
