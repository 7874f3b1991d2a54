"""`loopwright analyze gate`: whether the closed loop may open, and why not."""

from __future__ import annotations

from loopwright.analysis.gate import Closed, Open, decide
from loopwright.analysis.preregistered import current_digest
from loopwright.analysis.store import AnalysisStore
from loopwright.stages.context import Context


def analyze_gate(context: Context) -> Open | Closed:
    """Decided by what is recorded, now."""
    store = AnalysisStore(context.layout)
    return decide(store.newest(), current_digest(), store.tries())
