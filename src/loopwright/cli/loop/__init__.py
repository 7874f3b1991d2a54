"""`loopwright loop` and its subcommands."""
