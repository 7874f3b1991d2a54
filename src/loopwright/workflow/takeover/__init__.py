"""Reads workspaces of other tools. Writes nothing, and treats their statements about their own work as claims."""
