"""The path of one intended change: stages, approvals, readiness and the documents that they rest on. Runs nothing."""
