"""Executes plans: steps in order, judged by exit codes and checks alone."""
