"""A loop on a whole terminal: keys, a frame made of what is known, and the bytes that show it."""
