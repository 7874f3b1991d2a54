"""`loopwright verify`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.errors import EvidenceMismatch
from loopwright.verbs.verify import verify

_EPILOG = """\b
Examples:
  loopwright verify              every run, and the chain between them
  loopwright verify demo-001     one run
"""


@click.command(epilog=_EPILOG)
@click.argument("run", required=False)
@in_workspace
def command(run: str | None, project_root: Path, as_json: bool) -> int:
    """Recompute evidence and name what does not match; exit 13 when something does not."""
    verdicts = verify(context_of(project_root), run)
    wrong = [verdict for verdict in verdicts if verdict.mismatches]
    if as_json:
        say_json({"ok": not wrong, "runs": [msgspec.structs.asdict(verdict) for verdict in verdicts]})
    else:
        for verdict in verdicts:
            say(f"{verdict.run_id}: " + ("does not match" if verdict.mismatches else f"{verdict.checked} facts hold"))
            for line in verdict.mismatches:
                say(f"  ✗ {line}", fg="red")
            for line in verdict.notes:
                say(f"  note: {line}")
    if wrong:
        names = ", ".join(verdict.run_id for verdict in wrong[:5])
        raise EvidenceMismatch(
            f"{len(wrong)} of {len(verdicts)} runs do not match their evidence: {names}",
            hint="someone or something changed these files after the run; do not rely on them",
        )
    return 0
