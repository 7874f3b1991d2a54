"""Claude Code as an agent."""
