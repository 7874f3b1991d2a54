"""An agent that plays written turns."""
