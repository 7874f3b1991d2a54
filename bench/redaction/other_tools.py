"""Scores the rules on the examples of other tools: how many are hidden, and how many counter-examples are hit.

    bench/redaction/other_tools.py [--noseyparker CLONE] [--trufflehog CLONE] [--gitleaks CLONE] [--list]

CLONE is a clone of that tool's repository on this machine, or its git directory. Prints Markdown and never a value.
An example counts as hidden if one of the values that the set names is no longer in the text. If the set names none, or
the text has them only in parts, one finding is enough. A counter-example is one for a single rule of the other tool:
some of the same texts are examples of another rule, and the table counts these hits once more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from example_sets import TOOLS, Example, ExampleSet, read_set
from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.detector import ENGINE, Detector
from loopwright.redaction.redactor import Redactor
from loopwright.version import VERSION


@dataclass(frozen=True, slots=True)
class Judged:
    """An example, whether it counts as a hit, and the rules that had a finding."""

    example: Example
    is_hit: bool
    rules: tuple[str, ...]


def judge(redactor: Redactor, example: Example) -> Judged:
    """Redact the text like a command's output."""
    scanned = redactor.scan(example.text.encode(), example.name, trusts_pragma=False)
    inside = [value for value in example.values if value in example.text]
    is_hit = bool(scanned.findings)
    if inside:
        is_hit = any(value.encode() not in scanned.clean.data for value in inside)
    return Judged(example, is_hit, tuple(dict.fromkeys(finding.rule for finding in scanned.findings)))


def page(sets: list[ExampleSet], is_listing: bool) -> Iterator[str]:
    """The table, and the places behind it if they are asked for."""
    redactor = Redactor(Detector(SHIPPED_RULES, {}), {})
    yield f"loopwright {VERSION}, {len(SHIPPED_RULES)} rules, engine {ENGINE}"
    yield ""
    yield "| set | commit | examples | hidden | share | counter-examples | hit | share | also an example | unreadable |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    listed: list[str] = []
    for examples in sets:
        judged = [judge(redactor, example) for example in examples.examples]
        true = [one for one in judged if one.example.has_secret]
        false = [one for one in judged if not one.example.has_secret]
        texts = {one.example.text.strip() for one in true}
        both = sum(one.is_hit and one.example.text.strip() in texts for one in false)
        commit = f"{examples.commit[:12]}, {examples.date}"
        yield f"| {examples.tool} | {commit} | {_shares(true)} | {_shares(false)} | {both} | {examples.unreadable} |"
        listed += [f"{examples.tool} hit: {one.example.name}: {', '.join(one.rules)}" for one in false if one.is_hit]
        listed += [f"{examples.tool} not hidden: {one.example.name}" for one in true if not one.is_hit]
    if is_listing:
        yield from ("", *listed)


def _shares(judged: list[Judged]) -> str:
    hits = sum(one.is_hit for one in judged)
    return f"{len(judged)} | {hits} | {hits / max(len(judged), 1):.1%}"


def main(arguments: list[str]) -> int:
    """Read the sets, measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="other_tools.py", description="recall on the examples of other tools")
    for tool in TOOLS:
        parser.add_argument(f"--{tool}", type=Path, metavar="CLONE", help=f"a clone of {tool}, or its git directory")
    parser.add_argument("--list", action="store_true", help="name each counter-example hit, and each example missed")
    asked = vars(parser.parse_args(arguments))
    clones = [(tool, asked[tool]) for tool in TOOLS if asked[tool] is not None]
    if not clones:
        parser.error("name at least one clone, for example --noseyparker ../noseyparker")
    print("\n".join(page([read_set(tool, clone) for tool, clone in clones], asked["list"])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
