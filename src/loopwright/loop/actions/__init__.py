"""The actions of a worker, one file each. An action does its work and returns its result as a command."""
