"""A private copy of the project, the isolation of its processes from the machine, and the record of changes."""
