"""The plugin's texts: complete, short, true to the program, and whole in the wheel."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from loopwright.agents.harness import HARNESSES
from loopwright.cli.main import COMMANDS
from loopwright.install.hooks import hook_calls, parse_command, registered
from loopwright.install.mcp_json import COMMAND_AND_ARGS, is_our_command
from loopwright.install.part_files import PLUGIN, instructions, skill_names, skill_text
from loopwright.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / ".cache" / "agents" / "node_modules" / "gpt-tokenizer"
MOST_TOKENS = 1500
SKILLS = ("archive", "autopilot", "build", "clarify", "debug", "plan", "review", "tdd", "verify")
OF_PEOPLE = ("approve", "sign", "answer")
COUNT = """
import { encode } from "gpt-tokenizer";
import { readFileSync } from "fs";
const texts = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => encode(text).length)));
"""


def text_of(name):
    return (PLUGIN / "skills" / name / "SKILL.md").read_text(encoding="utf-8")


def test_every_skill_exists():
    assert skill_names() == SKILLS


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_has_its_purpose_its_limits_and_help(name):
    _, head, body = text_of(name).split("---\n", 2)
    fields = yaml.safe_load(head)
    assert fields["name"] == name
    assert "Use " in fields["description"]
    assert len(fields["description"]) < 400
    assert "## Never" in body
    assert re.search(r"^## (When|Conflicts)", body, re.MULTILINE)
    assert f"\nname: loopwright-{name}\n" in skill_text(name)


@pytest.mark.parametrize("name", [*SKILLS, "instructions"])
def test_commands_that_a_text_names_exist(name, project):
    text = instructions() if name == "instructions" else text_of(name)
    named = set(re.findall(r"`loopwright ([a-z]+)(?: ([a-z]+)\b)?", text))
    for command, inner in named:
        assert command in COMMANDS
        if command in ("loop", "specs") and inner:
            assert project.run(command, inner, "--help").exit_code == 0


def test_tokens_are_few():
    texts = [*(skill_text(name) for name in SKILLS), instructions()]
    # An English token rarely has less than three letters; the tokenizer, if installed, counts exactly.
    assert all(len(text) / 3 < MOST_TOKENS for text in texts)
    if not TOKENIZER.is_dir() or shutil.which("node") is None:
        pytest.skip("needs gpt-tokenizer (scripts/agents installs it)")
    done = subprocess.run(
        ["node", "--input-type=module", "-e", COUNT], cwd=TOKENIZER.parent.parent, input=json.dumps(texts),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    counts = json.loads(done.stdout)
    assert max(counts) <= MOST_TOKENS, dict(zip(SKILLS, counts, strict=False))
    assert counts[-1] <= 300, "every session reads the block"


def test_the_plugin_registers_the_same_as_install():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())
    found = {(event, parse_command(one).verb) for event, commands in registered(hooks).items() for one in commands}
    assert found == set(hook_calls(HARNESSES["claude"].hooks))
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["loopwright"]
    assert is_our_command(COMMAND_AND_ARGS.argv(server))
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("loopwright", VERSION)


def test_the_folder_at_the_top_is_the_same_one():
    assert (ROOT / "plugin").resolve() == PLUGIN.resolve()


def test_commands_leave_decisions_to_people():
    for path in (PLUGIN / "commands").glob("*.md"):
        text = path.read_text()
        assert yaml.safe_load(text.split("---\n")[1])["description"]
        assert all(word in text for word in OF_PEOPLE)
