"""A person, or an agent in a session of their own, as an agent."""
