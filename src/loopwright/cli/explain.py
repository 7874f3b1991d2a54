"""`loopwright explain`."""

from __future__ import annotations

import click

from loopwright.cli.options import say, say_json
from loopwright.errors import WrongUsage
from loopwright.verbs.explain import TOPICS, explain

_EPILOG = """\b
Examples:
  loopwright explain needs          what a failed step needs, by what its log says
  loopwright explain SECRET_LEAK    one error code
  loopwright explain settings       every key, its default and what it means
"""


@click.command(epilog=_EPILOG)
@click.argument("topic", required=False)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(topic: str | None, as_json: bool) -> int:
    """Explain a topic, an error code or a secret rule; without one, list the topics."""
    if topic is None:
        say_json(list(TOPICS)) if as_json else say("topics: " + ", ".join(TOPICS) + "; or any error code or rule id")
        return 0
    rows = explain(topic)
    if not rows:
        raise WrongUsage(f"there is nothing to explain about '{topic}'", hint="topics: " + ", ".join(TOPICS))
    if as_json:
        say_json(rows)
        return 0
    names = list(rows[0])
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in names[:-1]}
    for row in [{name: name for name in names}, *rows]:
        cells = [row[name].ljust(widths[name]) for name in names[:-1]]
        say("  ".join([*cells, row[names[-1]]]))
    return 0
