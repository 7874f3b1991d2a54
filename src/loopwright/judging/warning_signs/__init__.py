"""Warning signs in source code, by language: what honest code seldom does, and work that deceives its judge often."""
