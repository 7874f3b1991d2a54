"""A build: the judge of the slices, its lanes, its controls, and the tree that was verified."""
