"""Gets results per test from any test command through environment variables alone. Starts nothing itself."""
