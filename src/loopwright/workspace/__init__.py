"""Where things are (`Layout`) and how the user wants them (`Settings`)."""
