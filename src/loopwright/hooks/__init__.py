"""What agents' harnesses call at the end of every turn. Uses only the standard library, and imports very little."""
