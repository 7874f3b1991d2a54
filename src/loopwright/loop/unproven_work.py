"""What a person should know about honest work that nothing proves: documents, and changes of no behaviour. Pure."""

from __future__ import annotations

from loopwright.judging.globs import matches
from loopwright.judging.kept_tests import still_pass
from loopwright.judging.verdict import CommandVerdict
from loopwright.loop.split_work import SplitWork

_ASK = "no behaviour was meant to change? read the diff, then accept"


def if_nothing_should_change(split: SplitWork, verdict: CommandVerdict) -> str:
    """That work without a proof is normal here, and what to look at; empty if it is not."""
    kept = still_pass(verdict.kept, verdict.before)
    if _has_only_documents(split):
        return "; ".join(filter(None, ("the work changed only documents", kept, _ASK)))
    # A new test that proves nothing has a sentence of its own.
    is_whole = verdict.kept == verdict.before > 0
    return f"{kept}; {_ASK}" if is_whole and not verdict.idle else ""


def _has_only_documents(split: SplitWork) -> bool:
    changed = (*split.allowed_files, *split.protected_files)
    return bool(changed) and all(matches(path, split.scope.docs) for path in changed)
