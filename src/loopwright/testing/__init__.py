"""The shipped test kit: a project to drive as a user would, a scripted agent, one contract suite per port."""
