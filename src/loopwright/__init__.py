"""Loopwright runs coding agents in loops that people can trust."""
