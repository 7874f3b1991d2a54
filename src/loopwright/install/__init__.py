"""Adds hooks, skills, instructions and the MCP server to agents' settings, removes them, and checks them."""
