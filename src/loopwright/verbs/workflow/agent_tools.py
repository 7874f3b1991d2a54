"""What an agent may ask of a workflow: what to read before it builds, and a run of the checks that opens no gate."""

from __future__ import annotations

from loopwright.stages.agent_context import context_rows, read_row, rows_in
from loopwright.stages.trying import TriedChecks, try_checks

__all__ = ["TriedChecks", "context_rows", "read_row", "rows_in", "try_checks"]
