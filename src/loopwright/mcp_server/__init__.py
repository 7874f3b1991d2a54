"""The verbs for agents, by the Model Context Protocol. What only a person may do is not here: no tool has its name."""
