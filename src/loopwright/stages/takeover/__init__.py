"""Workflows and loops made from another tool's workspace."""
