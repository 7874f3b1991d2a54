"""The clarify stage: an idea becomes a spec that can be planned."""
