"""What a worker does, one file per action: each performs its work and says what came of it as a command."""
