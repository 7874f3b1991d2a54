"""What doctor and gc look for, and what a crash left behind."""
