"""Agent adapters: a turn goes in, a typed answer comes out. What an agent says is a claim, never evidence."""
