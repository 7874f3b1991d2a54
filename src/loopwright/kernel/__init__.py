"""Depends only on the operating system: time, ids, digests, files, locks, processes, git. Has no domain terms."""
