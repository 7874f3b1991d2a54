"""`loopwright selftest`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.language import told
from loopwright.cli.options import context_of, in_workspace, put, say_json
from loopwright.errors import SelftestFailed
from loopwright.verbs.selftest import selftest

_EPILOG = """\b
Example:
  loopwright selftest     takes a few seconds and leaves nothing behind
"""


@click.command(epilog=_EPILOG)
@in_workspace
def command(project_root: Path, as_json: bool) -> int:
    """Run a tiny plan in a temporary project and check this machine against the contract."""
    done = []
    for tested in selftest(context_of(project_root)):
        done.append(tested)
        if not as_json:
            put(
                f"{'✓' if tested.passed else '✗'} {told(tested.what)}: {told(tested.said)}",
                fg="green" if tested.passed else "red",
            )
    failed = [tested.what for tested in done if not tested.passed]
    if as_json:
        say_json({"ok": not failed, "checks": [msgspec.structs.asdict(tested) for tested in done]})
    if failed:
        raise SelftestFailed(f"{len(failed)} of {len(done)} promises are not kept: {', '.join(failed)}",
                             hint="`loopwright doctor` looks at the machine")  # fmt: skip
    return 0
