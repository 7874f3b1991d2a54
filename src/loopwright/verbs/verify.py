"""`loopwright verify`: recompute what is recorded and name what does not match."""

from __future__ import annotations

import tempfile
from pathlib import Path

from loopwright.evidence.verify import Verdict, verify_all, verify_run
from loopwright.stages.context import Context


def verify(context: Context, run: str | None) -> list[Verdict]:
    """One run, or every run that is still there."""
    store = context.store
    repository = context.repository()
    with tempfile.TemporaryDirectory(prefix="loopwright-verify-") as scratch:
        if run is not None:
            return [verify_run(store, store.resolve(run), repository, Path(scratch))]
        store.resolve(None)
        return list(verify_all(store, repository, Path(scratch)))
