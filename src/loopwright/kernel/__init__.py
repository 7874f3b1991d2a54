"""What stands on the operating system alone: time, ids, digests, files, locks, processes, git. No domain words."""
