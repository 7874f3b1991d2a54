"""What is ours in other people's texts, and what they made of it."""

from __future__ import annotations

import tomllib

import pytest

from loopwright.agents.marks import (
    MARKDOWN,
    TOML,
    State,
    find_block,
    state_of_block,
    state_of_file,
    with_block,
    with_mark,
    without_block,
)
from loopwright.agents.mcp_entry import (
    COMMAND_AND_ARGS,
    OPENCODE,
    entry_in,
    only_entry,
    state_of_entry,
    toml_block,
    with_entry,
    without_entry,
)
from loopwright.agents.settings_text import NotUnderstood

OURS = "## Ours\n\nA text.\n"


@pytest.mark.parametrize("around", ["", "# Mine\n", "# Mine", "# Mine\n\n", "\ufeff# Mine\r\nwith DOS ends\r\n", "\n"])
def test_a_block_goes_in_once_and_out_without_a_trace(around):
    text = with_block(around or None, MARKDOWN, "codex", OURS)
    assert with_block(text, MARKDOWN, "codex", OURS) == text
    assert state_of_block(find_block(text, MARKDOWN), OURS) is State.CURRENT
    assert ("\r\n" in around) == ("\r\n" in text.replace(around, ""))
    assert (without_block(text, MARKDOWN, "codex") or "") == around


def test_two_agents_share_a_block_and_the_last_takes_it_along():
    both = with_block(with_block("# Mine\n", MARKDOWN, "opencode", OURS), MARKDOWN, "codex", OURS)
    assert both.count("## Ours") == 1
    assert find_block(both, MARKDOWN).agents == ("codex", "opencode")
    one = without_block(both, MARKDOWN, "codex")
    assert find_block(one, MARKDOWN).agents == ("opencode",)
    assert find_block(one, MARKDOWN).is_as_written
    assert without_block(one, MARKDOWN, "codex") == one
    assert without_block(one, MARKDOWN, "opencode") == "# Mine\n"


def test_what_stands_around_stays_where_it_is_when_the_block_is_renewed():
    text = with_block("before\n", MARKDOWN, "codex", "old\n") + "after\n"
    renewed = with_block(text, MARKDOWN, "codex", OURS)
    assert state_of_block(find_block(text, MARKDOWN), OURS) is State.OUTDATED
    assert renewed.startswith("before\n")
    assert renewed.endswith("after\n")
    assert "old" not in renewed


def test_a_changed_block_is_known():
    text = with_block(None, MARKDOWN, "codex", OURS)
    assert state_of_block(find_block(text.replace("A text", "My text"), MARKDOWN), OURS) is State.CHANGED
    assert state_of_block(find_block(text.replace("\n", "\r\n"), MARKDOWN), OURS) is State.CURRENT


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace(MARKDOWN.end, ""),
        lambda text: text + text,
        lambda text: MARKDOWN.end + "\n" + text.replace(MARKDOWN.end, ""),
        lambda text: MARKDOWN.end,
    ],
)
def test_marks_that_make_no_block_are_refused(damage):
    with pytest.raises(NotUnderstood):
        find_block(damage(with_block(None, MARKDOWN, "codex", OURS)), MARKDOWN)


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (None, State.ABSENT),
        (with_mark("A skill."), State.CURRENT),
        (with_mark("A skill.").replace("\n", "\r\n"), State.CURRENT),
        (with_mark("An old skill."), State.OUTDATED),
        (with_mark("A skill.").replace("skill", "trick"), State.CHANGED),
        (with_mark("A skill.") + "more\n", State.CHANGED),
        ("A skill.\n", State.FOREIGN),
        ("", State.FOREIGN),
    ],
)
def test_whole_files(found, state):
    assert state_of_file(found, with_mark("A skill.")) is state


@pytest.mark.parametrize("form", [COMMAND_AND_ARGS, OPENCODE])
def test_an_entry_goes_in_and_out(form):
    before = {"theme": "dark", form.key: {"other": {"command": "x"}}}
    document = with_entry(before, form, "/usr/bin/python3")
    assert document[form.key]["other"] == {"command": "x"}
    assert state_of_entry(document, form, "/usr/bin/python3") is State.CURRENT
    assert state_of_entry(document, form, "/opt/python3") is State.OUTDATED
    assert without_entry(document, form) == before
    assert set(without_entry(with_entry({}, form, "p"), form)) == ({"$schema"} if form is OPENCODE else set())


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ({"command": "loopwright", "args": ["mcp"]}, State.OUTDATED),
        ({"command": "/x/loopwright", "args": ["mcp"], "env": {"A": "a-key"}}, State.CHANGED),
        ({"command": "loopwright", "args": ["mcp", "--project-root", "x"]}, State.FOREIGN),
        ({"command": "node", "args": ["server.js"]}, State.FOREIGN),
        ({"command": ["x"]}, State.FOREIGN),
        ({"url": "http://localhost"}, State.FOREIGN),
        ("loopwright", State.FOREIGN),
        ([], State.FOREIGN),
    ],
)
def test_what_stands_under_our_name(entry, state):
    document = {"mcpServers": {"loopwright": entry}}
    assert state_of_entry(document, COMMAND_AND_ARGS, "/usr/bin/python3") is state
    assert "a-key" not in only_entry(document, COMMAND_AND_ARGS)


def test_servers_that_are_no_object_are_refused():
    with pytest.raises(NotUnderstood):
        entry_in({"mcpServers": []}, COMMAND_AND_ARGS)


@pytest.mark.parametrize("interpreter", ["/usr/bin/python3", '/a "b"/ü\\python3'])
def test_the_block_for_codex_is_toml(interpreter):
    text = with_block('model = "x" # mine\n', TOML, "codex", toml_block(interpreter))
    server = tomllib.loads(text)["mcp_servers"]["loopwright"]
    assert (server["command"], server["args"][-1]) == (interpreter, "mcp")
    assert without_block(text, TOML, "codex") == 'model = "x" # mine\n'
