"""`loopwright explain`."""

from __future__ import annotations

import click

from loopwright.cli.language import translate
from loopwright.cli.options import command_with_examples, echo, echo_json, put
from loopwright.errors import WrongUsage
from loopwright.kernel.cells import width_of
from loopwright.verbs.explain import TOPICS, explain


@command_with_examples("""
  loopwright explain needs          what a failed step needs, found in its log
  loopwright explain SECRET_LEAK    one error code
  loopwright explain vacuous_tests  one code of a loop, a build or an agent
  loopwright explain settings       every key, its default and what it means
""")
@click.argument("topic", required=False)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(topic: str | None, as_json: bool) -> None:
    """Explain a topic, a code or a secret rule. Without TOPIC, list the topics."""
    if topic is None:
        echo_json(list(TOPICS)) if as_json else echo(f"topics: {', '.join(TOPICS)}; or any code or rule id")
        return
    rows = explain(topic)
    if not rows:
        raise WrongUsage(f"'{topic}' is not a topic, a code or a rule id", hint="topics: " + ", ".join(TOPICS))
    if as_json:
        echo_json(rows)
        return
    names = list(rows[0])
    # A single word is a name or a value, and is not translated.
    translated = [{name: translate(text) if " " in text else text for name, text in row.items()} for row in rows]
    shown = [{name: name for name in names}, *translated]
    widths = {name: max(width_of(row[name]) for row in shown) for name in names[:-1]}
    for row in shown:
        cells = [row[name] + " " * (widths[name] - width_of(row[name])) for name in names[:-1]]
        put("  ".join([*cells, row[names[-1]]]))
