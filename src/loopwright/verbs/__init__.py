"""The public Python API: one file per thing that a user can ask for."""
