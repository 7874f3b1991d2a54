"""Who does the work: one turn in, one typed answer out. What an agent says is a claim, never evidence."""
