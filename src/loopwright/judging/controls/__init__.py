"""Source transformations that show whether a check can fail: inverted tests, and functions that raise."""
