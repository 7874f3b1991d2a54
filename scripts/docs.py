"""Writes the generated pages of docs/reference/, or checks that they are current and that all pages are valid."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import agents_page
import catalogue
import click
import loop_states
import markdown_pages
import prompts_page
import python_page
import workflow_states

from loopwright.cli.main import loopwright
from loopwright.reflection.model import SCHEMA_FILE, schema_bytes
from loopwright.verbs.explain import TOPICS, explain

os.environ["LOOPWRIGHT_WORKSPACE_LANGUAGE"] = "en"  # the pages are the same on every machine
ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
_HEAD = "<!-- Written by `make docs` from the program itself; edits are lost. -->\n\n"


def cli_page() -> str:
    """The --help of every command."""
    parts = [_HEAD, "# Command line\n"]
    context = click.Context(loopwright, info_name="loopwright", terminal_width=100, max_content_width=100)
    parts.append(f"\n## loopwright\n\n```text\n{loopwright.get_help(context)}\n```\n")
    parts += _help_of_each(loopwright, context, "##")
    return "".join(parts)


def _help_of_each(group: click.Group, context: click.Context, heading: str) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name, terminal_width=100, max_content_width=100)
        yield f"\n{heading} {inner.command_path}\n\n```text\n{command.get_help(inner)}\n```\n"
        if isinstance(command, click.Group):
            yield from _help_of_each(command, inner, f"{heading}#")


def table_page(topic: str, title: str) -> str:
    """A table of `loopwright explain` as Markdown."""
    rows = explain(topic)
    names = list(rows[0])
    lines = [f"# {title}", "", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(row[name].replace("|", "\\|") for name in names) + " |" for row in rows]
    return _HEAD + "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """All generated pages."""
    titles = {
        "ambiguity": "Ambiguity score of a spec",
        "blockers": "Blockers of a workflow",
        "codes": "Codes of loops, workflows and agents",
        "errors": "Error codes",
        "exit-codes": "Exit codes",
        "isolation": "Isolation levels",
        "needs": "What a failed step needs",
        "preregistered": "Pre-registered numbers and heuristics",
        "risk": "Risk rules",
        "secrets": "Secret rules",
        "settings": "Settings",
    }
    assert set(titles) == set(TOPICS), "a topic without a page"
    texts = {REFERENCE / "cli.md": cli_page()}
    texts |= {REFERENCE / f"{topic}.md": table_page(topic, title) for topic, title in titles.items()}
    texts[SCHEMA_FILE] = schema_bytes().decode()
    texts[REFERENCE / "agents.md"] = agents_page.page(_HEAD)
    texts[REFERENCE / "loop-states.md"] = loop_states.page(_HEAD)
    texts[REFERENCE / "prompts.md"] = prompts_page.page(_HEAD)
    texts[REFERENCE / "python.md"] = python_page.page(_HEAD)
    texts[REFERENCE / "workflow-states.md"] = workflow_states.page(_HEAD)
    return texts


def main() -> int:
    """Write the pages, or compare them with --check."""
    if "--check" not in sys.argv[1:]:
        REFERENCE.mkdir(parents=True, exist_ok=True)
        for path, text in pages().items():
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
        for path, data in catalogue.files().items():
            path.write_bytes(data)
            print(f"wrote {path.relative_to(ROOT)}")
        print("\n".join(catalogue.problems()))
        return 0
    stale = [
        str(path.relative_to(ROOT))
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    stale += [
        str(path.relative_to(ROOT))
        for path, data in catalogue.files().items()
        if not path.exists() or path.read_bytes() != data
    ]
    problems = [f"stale: {name} (make docs)" for name in stale] + markdown_pages.problems(ROOT)
    problems += catalogue.problems()
    print("\n".join(problems) if problems else "docs: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
