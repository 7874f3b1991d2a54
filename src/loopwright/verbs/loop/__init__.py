"""What can be asked of loops, one file per thing."""
