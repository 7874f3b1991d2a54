"""The public Python API: one function per thing that a user can ask for. docs/python-api.md shows how to use it."""
