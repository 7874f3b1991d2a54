"""An agent that replays turns from a file."""
