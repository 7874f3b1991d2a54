"""Which hook commands count as ours in an agent's settings."""

from __future__ import annotations

import json

import pytest

from loopwright.agents.harness import HARNESSES
from loopwright.install.hooks import (
    HookEditor,
    InterpreterCommand,
    ScriptCommand,
    command_line,
    hook_calls,
    parse_command,
    registered,
    with_commands,
    without_commands,
)

HOOK = "/lib/loopwright/hooks/entry.py"
OURS = f"/usr/bin/python3 -I -S {HOOK} reflect"
CLAUDE = HARNESSES["claude"].hooks


def with_ours(document, interpreter):
    commands = {(event, verb): command_line(verb, interpreter, HOOK) for event, verb in hook_calls(CLAUDE)}
    return with_commands(document, commands)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (OURS, InterpreterCommand("/usr/bin/python3", HOOK, "reflect")),
        (
            f"'/a b/python' -I -S '/a b{HOOK}' session-start",
            InterpreterCommand("/a b/python", f"/a b{HOOK}", "session-start"),
        ),
        (f'"/a b/python" -I -S "/a b{HOOK}" reflect', InterpreterCommand("/a b/python", f"/a b{HOOK}", "reflect")),
        (
            r"'C:\py.exe' -I -S 'C:\loopwright\hooks\entry.py' reflect",
            InterpreterCommand(r"C:\py.exe", r"C:\loopwright\hooks\entry.py", "reflect"),
        ),
        ("loopwright-hook reflect", ScriptCommand("loopwright-hook", "reflect")),
        ("/venv/bin/loopwright-hook session-start", ScriptCommand("/venv/bin/loopwright-hook", "session-start")),
    ],
)
def test_written_and_documented_commands_are_ours(command, expected):
    assert parse_command(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        f"sh -c 'touch /tmp/x # {HOOK}'",
        f"cp {HOOK} /backup",
        f"timeout 5 {OURS}",
        f"{OURS}; touch x",
        f"{OURS} && touch x",
        f"{OURS} > log",
        f"{OURS} # mine",
        f"touch x; {OURS}",
        f"x=1;{OURS}",
        f"touch&&{OURS}",
        f"$(touch){OURS}",
        f"`touch`{OURS}",
        f"touch\n{OURS}",
        OURS.replace(" -S ", " -S\n"),
        f"$(touch x) {OURS}",
        f"/usr/bin/python3 -I {HOOK} reflect",
        f"/usr/bin/python3 -c x {HOOK} reflect",
        "/usr/bin/python3 -I -S /lib/myloopwright/hooks/entry.py reflect",
        f"/usr/bin/python3 -I -S {HOOK} else",
        f"/usr/bin/python3 -I -S {HOOK}",
        f"/usr/bin/python3 -I -S '{HOOK} reflect",
        "loopwright-hook",
        "loopwright-hook reflect --mine",
        "my-loopwright-hook reflect",
        "x" * 100_000 + f" -I -S {HOOK} reflect",
        "",
        None,
        ["loopwright-hook", "reflect"],
    ],
)
def test_a_command_that_only_mentions_us_is_not_ours(command):
    assert parse_command(command) is None
    document = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}
    assert without_commands(document) == document
    assert registered(document) == {}
    assert with_ours(document, "/python")["hooks"]["Stop"][:1] == document["hooks"]["Stop"]


def test_the_line_that_is_written_is_read_again():
    line = command_line("reflect", "/a 'b' $c/python", f"/d;e{HOOK}")
    assert parse_command(line) == InterpreterCommand("/a 'b' $c/python", f"/d;e{HOOK}", "reflect")


def test_the_console_script_and_the_file_are_never_both_registered():
    by_hand = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "loopwright-hook reflect"}]}]}}
    found = registered(with_ours(by_hand, "/python"))
    assert found == {
        "Stop": [command_line("reflect", "/python", HOOK), command_line("gate", "/python", HOOK)],
        "SessionStart": [command_line("session-start", "/python", HOOK)],
    }


def test_what_a_user_added_to_our_entry_stays_and_only_the_command_is_exchanged():
    document = with_ours({}, "/python")
    document["hooks"]["Stop"][0]["matcher"] = "mine"
    document["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 5
    document["hooks"]["Stop"].reverse()
    assert with_ours(document, "/python") == document
    assert with_ours(document, "/other") == json.loads(json.dumps(document).replace("/python", "/other"))


def test_repeated_and_misplaced_commands_go_and_missing_ones_are_added():
    wanted = with_ours({}, "/python")
    mine = {"type": "command", "command": "mine"}
    stop, gate = wanted["hooks"]["Stop"]
    found = {"Stop": [stop, {"hooks": [mine, *stop["hooks"]]}], "PreToolUse": [gate], "Empty": []}
    made = with_ours({"hooks": found}, "/python")["hooks"]
    assert made == {
        "Stop": [stop, {"hooks": [mine]}, gate],
        "Empty": [],
        "SessionStart": wanted["hooks"]["SessionStart"],
    }


def test_shown_content_is_ours_alone():
    others = {"matcher": "theirs", "hooks": [{"command": "theirs"}, {"command": OURS, "env": "theirs"}]}
    document = {"env": {"KEY": "theirs"}, "hooks": {"Stop": [others], "Other": [{"hooks": ["theirs"]}]}}
    shown = HookEditor(CLAUDE).shown(json.dumps(document))
    assert "theirs" not in shown
    assert OURS in shown
    assert HookEditor(CLAUDE).shown('{"env": {"KEY": "theirs"}}') == ""
