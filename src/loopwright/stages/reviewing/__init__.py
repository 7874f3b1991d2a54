"""The review stage: mechanical objections first, then reviewers if the risk requires them."""
