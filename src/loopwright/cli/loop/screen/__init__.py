"""The full-screen view of a loop: keys, the rows of the screen, and the bytes that draw them."""
