"""Offline experiments that decide whether self-reports can be trusted, and the gate that depends on them."""
