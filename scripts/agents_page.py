"""The table of agents: what each adapter declares, and which version the tests drive."""

from __future__ import annotations

import json
from pathlib import Path

import agents_matrix

from loopwright.agents.port import CanResume, HasHooks, HasNeeds, ReportsCost, StreamsEvents
from loopwright.agents.prices import shipped_prices
from loopwright.wiring.agents import OURS
from loopwright.workspace.settings_model import AgentSettings

_TESTED = Path(__file__).resolve().parent.parent / "tests" / "real_agents" / "package.json"
_ABILITIES = {
    "goes on with a session": CanResume,
    "counted while it works": ReportsCost,
    "events as log lines": StreamsEvents,
    "hooks": HasHooks,
}


def page(head: str) -> str:
    """The page as Markdown."""
    tested = json.loads(_TESTED.read_text(encoding="utf-8"))["dependencies"]
    columns = ("agent", "tested with", "oldest", *_ABILITIES)
    table = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    let_in = []
    for name, factory in OURS.items():
        agent = factory(name, AgentSettings(), {})
        assert isinstance(agent, HasNeeds)
        needs = agent.needs
        package = next(found for found in tested if f"{found}@" in f"{needs.install}@")
        marks = ["yes" if isinstance(agent, ability) else "no" for ability in _ABILITIES.values()]
        oldest = ".".join(map(str, needs.oldest))
        table.append("| " + " | ".join((f"`{name}`", f"{package} {tested[package]}", oldest, *marks)) + " |")
        files = ", ".join(f"`~/{one.folder}/{one.file}`" for one in needs.credentials)
        let_in += [
            f"\n## {name}\n",
            f"- install: `{needs.install}`",
            f"- login: {needs.login}",
            f"- variables: {', '.join(f'`{one}`' for one in needs.variables)}",
            *([f"- credential files, lent for the time of a turn: {files}"] * bool(files)),
            f"- addresses: {', '.join(f'`{one}`' for one in needs.hosts)}",
            *(
                [f"- or the one in {', '.join(f'`{one}`' for one in needs.address_variables)}"]
                * bool(needs.address_variables)
            ),
        ]
    tests = [
        "\n## What is tested\n",
        "How many tests show it with the real program, in the version above, against a model of our own. This table is",
        "counted from them (`tests/real_agents`); CI runs them all, and skips none.\n",
        *agents_matrix.table(tuple(OURS), agents_matrix.shown()),
    ]
    prices = ["\n## Prices\n", f"US dollars for a million tokens, as of {shipped_prices().as_of}.\n"]
    prices += ["| model | input | cached | output |", "|---|---|---|---|"]
    prices += [
        f"| {name} | {one.input:g} | {one.cached or one.input:g} | {one.output:g} |"
        for name, one in shipped_prices().models.items()
    ]
    return head + "\n".join(["# Agents", "", *table, *tests, *let_in, *prices]) + "\n"
