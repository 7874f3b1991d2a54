"""What drives a loop in a workspace: its worker, its budgets, its reflections."""
