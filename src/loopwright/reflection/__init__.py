"""What the doer knows that the diff does not show, and the least review that a change's surface asks for."""
