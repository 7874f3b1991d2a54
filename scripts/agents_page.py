"""The table of agents: what each adapter declares, and which version the tests use."""

from __future__ import annotations

import json
from pathlib import Path

import agents_matrix

from loopwright.agents.needs import HasNeeds
from loopwright.agents.port import CanResume, HasHooks, ReportsCost, StreamsEvents
from loopwright.agents.usage import shipped_prices
from loopwright.wiring.agents import PROGRAM_AGENTS
from loopwright.workspace.settings_model import AgentSettings

_TESTED = Path(__file__).resolve().parent.parent / "tests" / "real_agents" / "package.json"
_ABILITIES = {
    "resumes sessions": CanResume,
    "usage while it works": ReportsCost,
    "events as log lines": StreamsEvents,
    "hooks": HasHooks,
}


def page(head: str) -> str:
    """The page as Markdown."""
    tested = json.loads(_TESTED.read_text(encoding="utf-8"))["dependencies"]
    columns = ("agent", "tested with", "accepted from", *_ABILITIES)
    table = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    sections = []
    for name, factory in PROGRAM_AGENTS.items():
        agent = factory(name, AgentSettings(), {})
        assert isinstance(agent, HasNeeds)
        needs = agent.needs
        package = next(candidate for candidate in tested if f"{candidate}@" in f"{needs.install}@")
        marks = ["yes" if isinstance(agent, ability) else "no" for ability in _ABILITIES.values()]
        oldest = ".".join(map(str, needs.oldest))
        table.append("| " + " | ".join((f"`{name}`", f"{package} {tested[package]}", oldest, *marks)) + " |")
        files = ", ".join(
            f"`~/{login.folder}/{login.file}`" + (" (only the login of the model's provider)" if login.entries else "")
            for login in needs.credentials
        )
        sections += [
            f"\n## {name}\n",
            f"- install: `{needs.install}`",
            f"- login: {needs.login}",
            f"- variables: {', '.join(f'`{variable}`' for variable in needs.variables)}",
            *([f"- credential files, copied for one turn: {files}"] * bool(files)),
            f"- addresses: {', '.join(f'`{host}`' for host in needs.hosts)}",
            *(
                [f"- or the address in {', '.join(f'`{variable}`' for variable in needs.address_variables)}"]
                * bool(needs.address_variables)
            ),
        ]
    tests = [
        "\n*Accepted from* is the oldest tested version; see [supported versions](../agents/versions.md).",
        "\n## What is tested\n",
        "The numbers count the tests with the real program, in the version above, against a local test model. The",
        "table is generated from `tests/real_agents`. CI runs all of these tests and skips none. It fails if a counted",
        "test did not pass.\n",
        *agents_matrix.table(tuple(PROGRAM_AGENTS), agents_matrix.shown()),
    ]
    prices = [
        "\n## Prices\n",
        "US dollars per million tokens. A dash means no separate price: these tokens cost as much as other input.",
    ]
    for listed in shipped_prices():
        prices += [f"\n**{listed.provider}**, as of {listed.as_of}: {listed.source}.\n"]
        prices += ["| model | input | cached | written | output |", "|---|---|---|---|---|"]
        prices += [
            f"| {name} | {price.input:g} | {_or_dash(price.cached)} | {_or_dash(price.written)} | {price.output:g} |"
            for name, price in listed.models.items()
        ]
    return head + "\n".join(["# Agents", "", *table, *tests, *sections, *prices]) + "\n"


def _or_dash(price: float | None) -> str:
    return "–" if price is None else f"{price:g}"
