"""The verbs for agents, over the Model Context Protocol. Actions that only a person may take have no tool."""
