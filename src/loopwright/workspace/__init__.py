"""The paths of a workspace (`Layout`) and its settings (`Settings`)."""
