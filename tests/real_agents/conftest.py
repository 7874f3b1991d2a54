"""Codex's own sandbox leaves the system's temporary folder open, so real agents work there, not in memory."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path():
    with tempfile.TemporaryDirectory(prefix="loopwright-agents-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
