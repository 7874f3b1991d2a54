"""opencode as an agent."""
