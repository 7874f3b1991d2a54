"""Our server in Codex's settings, after Codex and people wrote into the same file."""

from __future__ import annotations

import tomllib

import pytest

from loopwright.agents.marks import TOML, State, with_block
from loopwright.agents.mcp_entry import HANDED_ON, toml_block
from loopwright.agents.mcp_toml import only_server, state_of_server, with_server, without_server
from loopwright.agents.settings_text import NotUnderstood

PYTHON = "/usr/bin/python3"
MINE = 'model = "x" # mine\n\n[projects."/x"]\ntrust_level = "trusted"\n'
INSTALLED = with_server(MINE, PYTHON)
BEGIN = next(line for line in INSTALLED.splitlines() if "loopwright:begin" in line) + "\n"
END = f"{TOML.end}\n"
FOO = '\n[mcp_servers.foo]\ncommand = "echo"\nargs = ["hi"]\n'
FEATURES = "\n[features]\ngoals = true\n"
TABLE = toml_block(PYTHON)
BARE = TABLE.partition("env_vars")[0]


@pytest.mark.parametrize("around", ["", MINE, MINE.rstrip(), MINE.replace("\n", "\r\n"), "\ufeff" + MINE])
def test_it_goes_in_once_and_out_without_a_trace(around):
    text = with_server(around or None, PYTHON)
    assert with_server(text, PYTHON) == text
    assert state_of_server(text, PYTHON) is State.CURRENT
    assert (without_server(text) or "") == around


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # As codex 0.166 leaves it after `mcp add`, `features enable`, and both.
        (MINE + "\n" + TABLE + FOO + END, MINE + FOO),
        (MINE + "\n" + BEGIN + TABLE + FEATURES + END, MINE + FEATURES),
        (MINE + "\n" + TABLE + FOO + FEATURES + END, MINE + FOO + FEATURES),
        # As people do.
        (MINE + "\n" + TABLE, MINE),
        (TABLE + END + "# a word\n" + FOO, "# a word\n" + FOO),
        (TABLE.replace("args", "# a word\nargs") + FOO, "# a word\n" + FOO),
        (TABLE.replace("loopwright]", '"loopwright"] # ours') + FOO, FOO),
        (TABLE.replace(", ", ",\n  ") + FOO, FOO),
        (INSTALLED + INSTALLED.replace(TABLE, "").removeprefix(MINE), MINE + "\n"),
    ],
)
def test_marks_are_decoration_and_what_others_wrote_stays_to_the_byte(text, left):
    assert state_of_server(text, PYTHON) is State.CURRENT
    assert with_server(text, PYTHON) == text
    assert without_server(text) == left
    assert state_of_server(text, "/opt/python3") is State.OUTDATED
    renewed = with_server(text, "/opt/python3")
    assert state_of_server(renewed, "/opt/python3") is State.CURRENT
    assert without_server(renewed) == left


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (MINE, State.ABSENT),
        (MINE + END, State.ABSENT),
        (INSTALLED.replace("mcp_servers.loopwright", "mcp_servers.other"), State.ABSENT),
        (with_block(MINE, TOML, "codex", BARE), State.OUTDATED),
        (BARE, State.OUTDATED),
        (TABLE.replace(f', "{HANDED_ON[-1]}"', ""), State.OUTDATED),
        (INSTALLED.replace(f', "{HANDED_ON[-1]}"', ""), State.CHANGED),
        (TABLE.replace(HANDED_ON[0], "MY_KEY"), State.CHANGED),
        (INSTALLED + '[mcp_servers.loopwright.env]\nA = "a-key"\n', State.CHANGED),
        (TABLE + "enabled = false\n" + FOO, State.CHANGED),
        ('[mcp_servers]\nloopwright = {command = "loopwright", args = ["mcp"]}\n', State.CHANGED),
        ('[mcp_servers.loopwright]\ncommand = "mine"\n', State.FOREIGN),
        ('[mcp_servers.loopwright]\nurl = "http://localhost"\n' + END, State.FOREIGN),
    ],
)  # fmt: skip
def test_what_stands_under_our_name(text, state):
    assert state_of_server(text, PYTHON) is state
    assert "a-key" not in only_server(text)


def test_a_mark_without_its_table_goes_and_does_not_stand_in_the_way():
    assert without_server(MINE + END) == MINE
    assert without_server(with_server(MINE + END, PYTHON)) == MINE


def test_what_only_looks_like_ours_in_a_text_stays():
    text = f'note = """\n{TABLE}{END}"""\n\n{TABLE}'
    assert state_of_server(text, PYTHON) is State.CHANGED
    assert without_server(text) == text
    assert tomllib.loads(text)["note"].endswith(END)


@pytest.mark.parametrize("text", ["model = \n", 'mcp_servers = {mine = {command = "x"}}\n'])
def test_what_nothing_can_be_added_to_is_refused(text):
    with pytest.raises(NotUnderstood):
        with_server(text, PYTHON)
