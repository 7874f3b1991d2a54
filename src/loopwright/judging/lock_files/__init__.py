"""Which changes of lock files are free: lists of what each format may say. Everything else needs a person."""
