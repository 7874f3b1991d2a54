"""`loopwright analyze` and its subcommands."""
