"""Tokens that Loopwright adds to an agent's turn, by a real tokenizer, in a workflow with the profile lean.

Runs a workflow with the scripted agent and counts its prompts, without texts that are not ours: the spec, the slice,
the check's command and output, a question and its answer. Run alone, it writes docs/reference/tokens.md.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from loopwright.agents.prompts.book import Book
from loopwright.stages.building.briefing import reason
from loopwright.testing.project import Project
from loopwright.workspace.stop_gate import answer
from report import Row, not_measured, verdict

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "tokens.md"
LIMIT = 300
_PACKAGE = ROOT / ".cache" / "agents" / "node_modules" / "gpt-tokenizer" / "cjs"
_VOCABULARY = _PACKAGE / "bpeRanks" / "o200k_base.js"
_SHA256 = "06a665b5a0fcecf000f0b641990bd6175edc3a4db905d72cf5fc30b66bacaf0b"
_COUNT = """
const { encode } = require(process.argv[1]);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => encode(text).length)));
"""
_CHECK = "sh check.sh"
_PRINTED = "the greeting lacks the name"
_QUESTION, _ANSWER = "formal or informal?", "informal, please"
_SPEC = """---
workflow: greet
---

# Greet

## Intent

Greet people by name.

""" + "\n".join(
    f"## {name}\n\n- said of {name}\n"
    for name in (
        "Desired Outcome", "In Scope", "Non-Goals", "Decision Boundaries", "Constraints", "Success Criteria",
        "Assumptions Exposed", "Brownfield Evidence vs Inference", "Execution Inputs", "Testable Acceptance Criteria",
    )
)  # fmt: skip
_DELTA = (
    "## ADDED Requirements\n\n### Requirement: Greeting\nThe system SHALL greet by name.\n\n"
    "#### Scenario: A name\n- **WHEN** greeted\n- **THEN** the name is said\n"
)
_SLICE = {
    "id": "VS-1", "title": "greet by name", "type": "AFK", "blocked_by": [], "behavior": "the greeting says the name",
    "acceptance_criteria": ["the name is in the greeting"], "verification_signal": "the check",
    "requirements": ["general: Greeting"], "checks": [{"id": "C1", "command": _CHECK}],
}  # fmt: skip
_REPLY = {
    "plan": "p", "architecture": "a", "design": "d", "why": "w", "what_changes": "- c", "deltas": {"general": _DELTA},
    "slices": [_SLICE],
}  # fmt: skip
_NOT_OURS = (
    _PRINTED, _QUESTION, _ANSWER, _CHECK, _SLICE["title"], _SLICE["behavior"], "the name is in the greeting", "VS-1",
    "C1", "general",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """A kind of turn: whether it belongs to a build, and the number of our tokens."""

    name: str
    is_build: bool
    prompt: int
    hook: int = 0

    @property
    def total(self) -> int:
        """All tokens, including the hook's text."""
        return self.prompt + self.hook


def missing() -> str | None:
    """What is missing for the count; None if nothing is."""
    if shutil.which("node") is None:
        return "needs node"
    if not _VOCABULARY.is_file():
        return "needs gpt-tokenizer (scripts/agents installs it)"
    found = hashlib.sha256(_VOCABULARY.read_bytes()).hexdigest()
    return None if found == _SHA256 else f"not the vocabulary of the recorded numbers ({found[:12]}…)"


def counted(folder: Path) -> list[Turn]:
    """Each kind of turn with its tokens."""
    prompts = _prompts(Project(folder))
    hook = _without(answer(reason([_CHECK], Book())), _NOT_OURS)
    numbers = _tokens([*prompts.values(), hook])
    hook_tokens = numbers.pop()
    return [
        Turn(name, name.startswith("build"), number, hook_tokens if name.startswith("build") else 0)
        for name, number in zip(prompts, numbers, strict=True)
    ]


def measure(folder: Path) -> Iterator[Row]:
    """Rows for the table."""
    why = missing()
    if why is not None:
        yield not_measured("tokens that we add to a turn of a build, lean", f"<= {LIMIT}", why)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for turn in counted(folder):
        said = f"prompt {turn.prompt}, hook {turn.hook}" if turn.is_build else f"prompt {turn.prompt}"
        yield Row(
            f"tokens that we add: {turn.name}", f"<= {LIMIT}", str(turn.total), verdict(turn.total <= LIMIT), said
        )


def page(turns: Sequence[Turn]) -> str:
    """The page of the docs."""
    lines = [
        "<!-- Written by `bench/tokens.py` from real turns; edits are lost. -->",
        "",
        "# Tokens that Loopwright adds to a turn",
        "",
        "Loopwright's own text in each prompt, with the profile lean and the tokenizer o200k (npm gpt-tokenizer).",
        "Not counted: the spec, the slice, its check and its output, a question and its answer. In a build, the",
        f"installed hook adds its own text. The limit is {LIMIT} tokens for each turn; a test counts them again.",
        "",
        "| turn | prompt | hook | total |",
        "|---|---|---|---|",
        *(f"| {turn.name} | {turn.prompt} | {turn.hook} | {turn.total} |" for turn in turns),
        "",
    ]
    return "\n".join(lines)


def _prompts(project: Project) -> dict[str, str]:
    """Our part of the prompt in each kind of turn."""
    asks = f"""echo '{{"question": "{_QUESTION}"}}' > $LOOPWRIGHT_DECISIONS/one.json"""
    turns = [
        {"role": "clarifier", "answer": '{"question": null}'},
        {"role": "planner", "answer": json.dumps(_REPLY)},
        {"role": "builder", "run": "true"},
        {"role": "builder", "run": asks},
        {"role": "builder", "run": "echo name > greeting"},
    ]
    project.write("check.sh", f"grep -q name greeting 2>/dev/null || {{ echo '{_PRINTED}'; exit 1; }}\n")
    project.write(".gitignore", ".loopwright/\n")
    project.commit("a check")
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    agent = '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n'
    project.write(".loopwright/config.toml", agent)
    spec = project.write("../SPEC.md", _SPEC)
    for code, arguments in (
        (0, ("clarify", "idea", "--idea", "greet people by name", "--agent", "scripted")),
        (0, ("plan", "greet", "--direct", str(spec), "--agent", "scripted")),
        (0, ("approve", "greet", "--from", "plan", "--to", "build")),
        (11, ("build", "greet", "--agent", "scripted")),
        (0, ("answer", "greet", "D-1", _ANSWER)),
        (0, ("build", "greet", "--agent", "scripted")),
    ):
        done = project.run(*arguments)
        if done.exit_code != code:
            raise SystemExit(f"{' '.join(arguments)} exited with {done.exit_code}: {done.stdout}{done.stderr}")
    named = (
        ("clarify", project.own / "turns" / "idea-clarify-1" / "prompt.md"),
        ("plan", project.own / "turns" / "greet-planner-1" / "prompt.md"),
    )
    found = {name: _without(path.read_text(encoding="utf-8"), _specs(project)) for name, path in named}
    built = sorted(
        (project.own / "loops").glob("*.progress/turns/*-builder*/prompt.md"), key=lambda path: path.stat().st_mtime_ns
    )
    kinds = ("build: the first turn of a slice", "build: after failed checks", "build: after an answered decision")
    texts = (_without(path.read_text(encoding="utf-8"), _NOT_OURS) for path in built)
    return found | dict(zip(kinds, texts, strict=True))


def _specs(project: Project) -> list[str]:
    folder = project.own / "workflows"
    kept = [path.read_text(encoding="utf-8") for path in folder.glob("*/objects/*")]
    return ["greet people by name", *(text for text in kept if text.startswith("---"))]


def _without(text: str, others: Sequence[str]) -> str:
    for one in sorted(others, key=len, reverse=True):
        text = text.replace(one, "")
    return text


def _tokens(texts: Sequence[str]) -> list[int]:
    script = str(_PACKAGE / "encoding" / "o200k_base.js")
    done = subprocess.run(
        ("node", "-e", _COUNT, script), input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


def main() -> int:
    """Count, print, write the page."""
    why = missing()
    if why is not None:
        print(f"tokens: {why}")
        return 1
    with tempfile.TemporaryDirectory(prefix="loopwright-tokens-") as folder:
        turns = counted(Path(folder))
    PAGE.write_text(page(turns), encoding="utf-8")
    print(page(turns))
    return 1 if any(turn.total > LIMIT for turn in turns) else 0


if __name__ == "__main__":
    sys.exit(main())
