"""A person, or an agent in the person's own session, as an agent."""
