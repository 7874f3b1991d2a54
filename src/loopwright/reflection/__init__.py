"""What an agent knows that the diff does not show, and the minimum review that a change requires."""
