"""How a loop's status looks."""

from __future__ import annotations

COLORS = {"created": "white", "running": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}
