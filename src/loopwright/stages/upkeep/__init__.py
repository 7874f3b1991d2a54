"""What `doctor` checks and `gc` keeps: agents, workflows, leftover files and branches."""
