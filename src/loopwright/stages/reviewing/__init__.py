"""The review stage: what a machine can see, then reviewers where the risk floor asks for them."""
