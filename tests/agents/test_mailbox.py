"""We write into a mailbox through no link or pipe of an agent."""

from __future__ import annotations

import json
import os

import pytest

from loopwright.agents import mailbox
from loopwright.agents.mailbox import read_requests
from loopwright.agents.private_files import private_folder
from loopwright.agents.program_turn import Followed
from loopwright.runner.network.model_proxy import ModelProxy
from loopwright.testing.contracts import OBSTACLES, put_in_the_way

NAMES = {
    "turn.json": lambda box: mailbox.write_turn_facts(box, mailbox.TurnFacts(role="builder")),
    "checks.json": lambda box: mailbox.write_checks(box, mailbox.Checks(hidden=3)),
    "context": lambda box: mailbox.write_file(box, "context/manifest.jsonl", b"{}"),
    "context/manifest.jsonl": lambda box: mailbox.write_file(box, "context/manifest.jsonl", b"{}"),
    "network": lambda box: ModelProxy(box, ()).close(),
}


@pytest.mark.parametrize("kind", [*OBSTACLES, "link to a folder"])
@pytest.mark.parametrize("name", NAMES)
def test_anything_in_the_place_of_our_file_is_replaced(tmp_path, name, kind):
    box, elsewhere = tmp_path / "mailbox", tmp_path / "elsewhere"
    victim = elsewhere / "manifest.jsonl"
    for folder in (box, elsewhere):
        folder.mkdir()
    victim.write_text("mine")
    put_in_the_way(box / name, kind.split()[0], elsewhere if "to a" in kind else victim)
    NAMES[name](box)
    assert victim.read_text() == "mine"
    assert list(elsewhere.iterdir()) == [victim]
    assert not (box / name).is_symlink()
    assert (box / name).is_dir() == (name == "context")
    assert mailbox.read_turn_facts(box).role == ("builder" if name == "turn.json" else "")
    assert mailbox.read_checks(box).hidden == (3 if name == "checks.json" else 0)


def test_a_mailbox_without_permissions_is_opened_again(tmp_path):
    box = tmp_path / "mailbox"
    (box / "context").mkdir(parents=True)
    for folder in (box / "context", box):
        folder.chmod(0)
    mailbox.write_file(box, "context/a", b"x")
    assert (private_folder(box, "context") / "a").read_bytes() == b"x"
    # Root needs no permissions; for other users the mailbox was opened.
    assert os.geteuid() == 0 or box.stat().st_mode & 0o700 == 0o700


def test_linked_folders_of_the_mailbox_are_not_read(tmp_path):
    box, elsewhere = tmp_path / "mailbox", tmp_path / "elsewhere"
    box.mkdir()
    elsewhere.mkdir()
    (elsewhere / "a.json").write_text(json.dumps({"question": "whose?"}))
    (elsewhere / "a.reflection.json").write_text("{}")
    for name in ("decisions", mailbox.REFLECTIONS):
        (box / name).symlink_to(elsewhere)
    assert read_requests(box).asked == ()
    assert mailbox.read_reflections(box) == ()
    for name in ("decisions", mailbox.REFLECTIONS):
        (box / name).unlink()
        elsewhere.rename(box / name)
        elsewhere = box / name
        found = (read_requests(box).asked, mailbox.read_reflections(box))
        assert [bool(one) for one in found] == [name == "decisions", name == mailbox.REFLECTIONS]


@pytest.mark.parametrize("kind", OBSTACLES)
def test_an_invalid_session_file_has_no_records(tmp_path, kind):
    path = tmp_path / "session.jsonl"
    put_in_the_way(path, kind, tmp_path / "nowhere")
    assert list(Followed(path).new_records(lambda: None)) == []


def test_only_our_file_names_are_manifests(tmp_path):
    """A name that is no text would end the worker when it writes the record of the turn."""
    assert mailbox.manifest_in(tmp_path) is None
    folder = tmp_path / "context"
    folder.mkdir()
    for name in (b"\xff-context.jsonl", b"-context.jsonl", b"a\nb-context.jsonl", b"notes.md"):
        (folder / os.fsdecode(name)).write_text("{}")
    assert mailbox.manifest_in(tmp_path) is None
    mailbox.write_file(tmp_path, "context/build-context.jsonl", b"{}")
    assert mailbox.manifest_in(tmp_path) == folder / "build-context.jsonl"
