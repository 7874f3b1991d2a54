"""Reads other tools' workspaces. Writes nothing, believes nothing: what they say of their own work is a claim."""
