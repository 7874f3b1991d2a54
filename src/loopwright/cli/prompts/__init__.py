"""`loopwright prompts`: one module per subcommand."""
