"""Git's raw output: names of any bytes, every kind of change, and truncated output is refused."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopwright.reflection.change import Change, OwnState, combined, parse_diff, parse_status
from loopwright.reflection.read_change import parse_path_list

OWN = OwnState((".loopwright", ".claude/state", "sub/.loop"), (".loopwright/config.toml",))
OLD, NEW = b"1" * 40, b"2" * 40


def raw(old, new, status, *paths):
    return b":%s %s %s %s %s\0" % (old, new, OLD, NEW, status) + b"".join(path + b"\0" for path in paths)


def test_a_diff_is_files_and_lines():
    text = (
        raw(b"100644", b"100644", b"M", b"b.py")
        + raw(b"000000", b"100644", b"A", b"a.py")
        + b"3\t1\tb.py\0007\t0\ta.py\0"
    )
    assert parse_diff(text) == Change(("a.py", "b.py"), 10, 1, counts={"b.py": (3, 1)})


@pytest.mark.parametrize(
    "name", [b"a\nb", b"a\tb", b'"q"', b":colon", b"caf\xe9", b"-rf", b"1\t2\tx", b" ", b"\xff\xfe"]
)
def test_any_name_is_kept(name):
    both = raw(b"100644", b"100644", b"M", name) + b"1\t2\t" + name + b"\0"
    change = parse_diff(both)
    assert [os.fsencode(path) for path in change.files] == [name]
    assert (change.insertions, change.deletions) == (1, 2)
    assert change.shown_files()[0].encode().decode().isprintable()
    status = parse_status(b"1 .M N... 100644 100644 100644 %s %s %s\0? %s\0" % (OLD, OLD, name, name))
    assert [os.fsencode(path) for path in status.files] == [name]


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        (b"100644", b"100755", {"p": "mode"}),
        (b"100644", b"120000", {"p": "symlink"}),
        (b"120000", b"120000", {"p": "symlink"}),
        (b"000000", b"120000", {"p": "symlink"}),
        (b"160000", b"160000", {"p": "submodule"}),
        (b"000000", b"160000", {"p": "submodule"}),
        (b"160000", b"000000", {}),
        (b"120000", b"000000", {}),
        (b"000000", b"100755", {}),
        (b"100644", b"100644", {}),
    ],
)
def test_modes_links_and_submodules_are_told(old, new, kinds):
    assert parse_diff(raw(old, new, b"T", b"p")).kinds == kinds


@pytest.mark.parametrize(
    ("head", "index", "work_tree", "kinds"),
    [
        (b"100644", b"100644", b"100755", {"p": "mode"}),
        (b"100644", b"100755", b"100755", {"p": "mode"}),
        (b"100644", b"100644", b"120000", {"p": "symlink"}),
        (b"100644", b"120000", b"100644", {"p": "symlink"}),
        (b"160000", b"160000", b"160000", {"p": "submodule"}),
        (b"120000", b"000000", b"000000", {}),
        (b"000000", b"100755", b"100755", {}),
        (b"100644", b"100644", b"100644", {}),
    ],
)
def test_a_status_tells_them_from_the_index_and_the_work_tree(head, index, work_tree, kinds):
    entry = b"1 MM N... %s %s %s %s %s p\0" % (head, index, work_tree, OLD, OLD)
    assert parse_status(entry).kinds == kinds


def test_a_rename_is_both_names():
    text = raw(b"100644", b"100644", b"R090", b"old", b"new") + b"1\t2\t\0old\0new\0"
    assert parse_diff(text) == Change(("new", "old"), 1, 2, counts={"new": (1, 2)})
    status = b"2 R. N... 100644 100644 100644 %s %s R100 new\0old\0" % (OLD, OLD)
    assert parse_status(status).files == ("new", "old")


def test_a_binary_file_has_no_lines_and_raw_alone_knows_none():
    assert parse_diff(raw(b"100644", b"100644", b"M", b"x") + b"-\t-\tx\0") == Change(("x",), 0, 0)
    assert parse_diff(raw(b"100644", b"100644", b"M", b"x")) == Change(("x",), None, None)
    assert parse_diff(b"") == Change((), 0, 0)


def test_a_status_has_untracked_files_conflicts_and_repositories():
    text = (
        b"# branch.head main\0"
        b"u UU N... 100644 100644 100644 100644 %s %s %s both\0"
        % (OLD, OLD, OLD)
        + b"? new file\0? inner/\0! ignored\0"
        + b"1 MM N... 100644 100644 100644 %s %s x y\0" % (OLD, OLD)
    )
    status = parse_status(text)
    assert status.files == ("both", "inner/", "new file", "x y")
    assert (status.untracked, status.conflicts) == (("inner/", "new file"), ("both",))
    assert status.kinds == {"inner/": "repository"}
    assert status.insertions is None


def test_state_of_ours_is_no_change_but_settings_that_others_rely_on_are():
    state = [b".loopwright/runs/x", b".claude/state/y", b"sub/.loop/z"]
    new = b"".join(raw(b"000000", b"100644", b"A", path) + b"5\t5\t" + path + b"\0" for path in state)
    config = b".loopwright/config.toml"
    other = raw(b"100644", b"100644", b"M", b".claude/settings.json") + b"1\t1\t.claude/settings.json\0"
    assert parse_diff(new + other, OWN) == Change(
        (".claude/settings.json",), 1, 1, counts={".claude/settings.json": (1, 1)}
    )
    assert parse_diff(raw(b"000000", b"100644", b"A", config) + b"5\t0\t" + config + b"\0", OWN).files == ()
    assert parse_diff(raw(b"000000", b"100644", b"A", config) + b"5\t0\t" + config + b"\0", OWN).insertions == 0
    changed = parse_diff(raw(b"100644", b"100644", b"M", config) + b"5\t0\t" + config + b"\0", OWN)
    assert (changed.files, changed.insertions) == ((".loopwright/config.toml",), 5)
    entry = b"1 .M N... %s 100644 100644 " + OLD + b" " + OLD + b" .loopwright/config.toml\0"
    assert parse_status(entry % b"100644", OWN).files == (".loopwright/config.toml",)
    assert parse_status(entry % b"000000", OWN).files == ()
    assert parse_status(b"? .loopwright/config.toml\0? .loopwrightish\0", OWN).files == (".loopwrightish",)


@pytest.mark.parametrize(
    "text",
    [
        b"3\t1\tb.py",
        b":100644 100644 a b M\0",
        b":100644 100644 a M\0x\0",
        b"::100644 100644 100644 a b c MM\0x\0",
        b":100644 100644 a b Q\0x\0",
        b"nonsense\0",
        b"3\tx\tb.py\0",
        b"3\t1\t\0old\0",
    ],
)
def test_a_diff_that_is_cut_short_or_strange_is_refused(text):
    with pytest.raises(ValueError, match="git"):
        parse_diff(text)


@pytest.mark.parametrize(
    "text", [b"? x", b"9 what\0", b"1 .M N... 100644\0", b"2 R. N... 1 2 3 4 5 R1 new\0", b"?\0", b"? \0"]
)
def test_a_status_that_is_cut_short_or_strange_is_refused(text):
    with pytest.raises(ValueError, match="git"):
        parse_status(text)


@given(st.binary(max_size=60))
# Drawn bytes are never a change with files.
@example(b"? x\0")
@example(b"1 .M N... 100644 100644 100644 0 0 x\0")
def test_any_bytes_are_read_or_refused(data):
    for parse in (parse_diff, parse_status):
        try:
            change = parse(data)
        except ValueError:
            continue
        assert all(path for path in change.files)


def test_changes_are_combined_and_seen_from_above():
    one = Change(("b", "a"), 1, None, {"b": "mode"}, ("a",))
    two = Change(("b", "c"), None, None, {"b": "symlink"}, (), ("c",))
    assert combined(one, two) == Change(("a", "b", "c"), 1, None, {"b": "symlink"}, ("a",), ("c",))
    assert combined() == Change()
    below = Change(("x",), 1, 2, {"x": "mode"}, ("x",), ("x",), {"x": (1, 2)}, {"x": (2, 3)}).below("sub/")
    assert below == Change(
        ("sub/x",), 1, 2, {"sub/x": "mode"}, ("sub/x",), ("sub/x",), {"sub/x": (1, 2)}, {"sub/x": (2, 3)}
    )


def test_what_git_really_says_is_understood(project):
    names = [b"line\nbreak", b"caf\xe9", b"tab\there", b'quote"s', b"-rf", b" space ", "ü".encode()]
    for name in names:
        (project.root / os.fsdecode(name)).write_text("one\ntwo\n")
    project.git("add", "-A")
    argv = ["git", "diff", "--cached", "--raw", "--numstat", "-z", "--no-renames", "HEAD"]
    change = parse_diff(subprocess.check_output(argv, cwd=project.root))
    assert {os.fsencode(path) for path in change.files} == set(names)
    assert change.insertions == 2 * len(names)
    argv = ["git", "status", "--porcelain=v2", "-z", "--untracked-files=all"]
    assert parse_status(subprocess.check_output(argv, cwd=project.root)).files == change.files


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (b"", ()),
        (b"a\nb c\n", ("a", "b c")),
        (b"a\r\nb\r\n", ("a", "b")),
        (b"a\nb\0c\0", ("a\nb", "c")),
        (b"\0\0", ()),
        (b'"caf\\303\\251 \\"x\\"\\n\\t\\\\"\n', ('café "x"\n\t\\',)),
        (b'"\n', ('"',)),
        (b"caf\xe9\n", ("caf\udce9",)),
        (b'"a"\0b', ('"a"', "b")),
    ],
)
def test_a_list_of_paths_is_read_as_git_writes_it(text, paths):
    assert parse_path_list(text) == paths
