"""Our server in Codex's settings, after Codex and people wrote into the same file."""

from __future__ import annotations

import tomllib

import pytest

from loopwright.install.marks import TOML, with_block
from loopwright.install.mcp_toml import HANDED_ON, TomlServerEditor
from loopwright.install.model import InstallState, NotEditable

EDITOR, OTHER = TomlServerEditor("/usr/bin/python3"), TomlServerEditor("/opt/python3")
MINE = 'model = "x" # mine\n\n[projects."/x"]\ntrust_level = "trusted"\n'
INSTALLED = EDITOR.add(MINE)
BEGIN = next(line for line in INSTALLED.splitlines() if "loopwright:begin" in line) + "\n"
END = f"{TOML.end}\n"
FOO = '\n[mcp_servers.foo]\ncommand = "echo"\nargs = ["hi"]\n'
FEATURES = "\n[features]\ngoals = true\n"
TABLE = """\
[mcp_servers.loopwright]
command = "/usr/bin/python3"
args = ["-P", "-m", "loopwright", "mcp"]
env_vars = ["LOOPWRIGHT_MAILBOX", "LOOPWRIGHT_DECISIONS", "LOOPWRIGHT_AGENT_TURN", "REFLECTION_INPUT", "REFLECTION_DIR", "REFLECTION_MODE"]
"""  # noqa: E501 -- the bytes of the file
BARE = TABLE.partition("env_vars")[0]


def test_the_added_bytes_are_the_same_in_every_version():
    assert INSTALLED == MINE + "\n" + BEGIN + TABLE + END


@pytest.mark.parametrize("around", ["", MINE, MINE.rstrip(), MINE.replace("\n", "\r\n"), "\ufeff" + MINE])
def test_it_goes_in_once_and_out_without_a_trace(around):
    text = EDITOR.add(around or None)
    assert EDITOR.add(text) == text
    assert EDITOR.state(text) is InstallState.CURRENT
    assert (EDITOR.remove(text) or "") == around


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
        ('note = """\n[mcp_servers.loopwright]\n"""\n\n' + TABLE, 'note = """\n[mcp_servers.loopwright]\n"""\n'),
        (INSTALLED + INSTALLED.replace(TABLE, "").removeprefix(MINE), MINE + "\n"),
    ],
)
def test_marks_are_hints_and_other_content_keeps_its_bytes(text, left):
    assert EDITOR.state(text) is InstallState.CURRENT
    assert EDITOR.add(text) == text
    assert EDITOR.remove(text) == left
    assert OTHER.state(text) is InstallState.OUTDATED
    renewed = OTHER.add(text)
    assert OTHER.state(renewed) is InstallState.CURRENT
    assert EDITOR.remove(renewed) == left


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (MINE, InstallState.ABSENT),
        (MINE + END, InstallState.ABSENT),
        (INSTALLED.replace("mcp_servers.loopwright", "mcp_servers.other"), InstallState.ABSENT),
        (with_block(MINE, TOML, "codex", BARE), InstallState.OUTDATED),
        (BARE, InstallState.OUTDATED),
        (TABLE.replace(f', "{HANDED_ON[-1]}"', ""), InstallState.OUTDATED),
        (INSTALLED.replace(f', "{HANDED_ON[-1]}"', ""), InstallState.CHANGED),
        (TABLE.replace(HANDED_ON[0], "MY_KEY"), InstallState.CHANGED),
        (INSTALLED + '[mcp_servers.loopwright.env]\nA = "a-key"\n', InstallState.CHANGED),
        (TABLE + "enabled = false\n" + FOO, InstallState.CHANGED),
        ('[mcp_servers]\nloopwright = {command = "loopwright", args = ["mcp"]}\n', InstallState.CHANGED),
        ('[mcp_servers.loopwright]\ncommand = "mine"\n', InstallState.FOREIGN),
        ('[mcp_servers.loopwright]\nurl = "http://localhost"\n' + END, InstallState.FOREIGN),
    ],
)  # fmt: skip
def test_the_state_of_content_under_our_name(text, state):
    assert EDITOR.state(text) is state
    assert "a-key" not in EDITOR.shown(text)


def test_a_mark_without_its_table_goes_and_does_not_stand_in_the_way():
    assert EDITOR.remove(MINE + END) == MINE
    assert EDITOR.remove(EDITOR.add(MINE + END)) == MINE


def test_what_only_looks_like_ours_in_a_text_stays():
    text = f'note = """\n{TABLE}{END}"""\n\n{TABLE}'
    assert EDITOR.state(text) is InstallState.CHANGED
    assert EDITOR.remove(text) == text
    assert tomllib.loads(text)["note"].endswith(END)


@pytest.mark.parametrize("text", ["model = \n", 'mcp_servers = {mine = {command = "x"}}\n'])
def test_what_nothing_can_be_added_to_is_refused(text):
    with pytest.raises(NotEditable):
        EDITOR.add(text)


@pytest.mark.parametrize("interpreter", ["/usr/bin/python3", '/a "b"/ü\\python3'])
def test_the_written_text_is_toml(interpreter):
    server = tomllib.loads(TomlServerEditor(interpreter).add(MINE))["mcp_servers"]["loopwright"]
    assert (server["command"], server["args"][-1], server["env_vars"]) == (interpreter, "mcp", list(HANDED_ON))
