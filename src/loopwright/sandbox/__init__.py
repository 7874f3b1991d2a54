"""A private copy of the project, what confined processes may see of the machine, and what they changed."""
