"""What a user can ask of a workflow, one file per question."""
