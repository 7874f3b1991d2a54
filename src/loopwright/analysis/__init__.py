"""Offline experiments that decide whether self-reports deserve trust, and the gate that hangs on them."""
