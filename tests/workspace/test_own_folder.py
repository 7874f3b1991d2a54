"""The `.loopwright` folder exists together with the chosen layout, or not at all."""

from __future__ import annotations

import os

import pytest

from loopwright.workspace.layout import Flavour, Layout, detect_flavour, ensure_own_folder
from loopwright.workspace.names import make_own_folder


class Died(BaseException):
    """kill -9, as far as a test can play it."""


def test_it_is_made_once_with_its_config(tmp_path):
    assert make_own_folder(str(tmp_path), Flavour.INTEROP)
    assert not make_own_folder(str(tmp_path), Flavour.UNIFIED)
    assert sorted(path.name for path in (tmp_path / ".loopwright").iterdir()) == [".gitignore", "config.toml"]
    assert 'layout = "interop"' in (tmp_path / ".loopwright" / "config.toml").read_text()
    assert [path.name for path in tmp_path.iterdir()] == [".loopwright"]


@pytest.mark.parametrize("moment", ["makedirs", "fsync", "rename"])
def test_a_death_on_the_way_leaves_the_layout_as_it_was(tmp_path, monkeypatch, moment):
    (tmp_path / ".loop").mkdir()

    def die(*arguments):
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(os, moment, die)
        with pytest.raises(Died):
            make_own_folder(str(tmp_path), Flavour.INTEROP)
    assert detect_flavour(tmp_path, tmp_path / "home") is Flavour.INTEROP
    # A process that is gone, and never comes back under this number.
    for left in tmp_path.glob(".loopwright.*.tmp"):
        left.rename(tmp_path / f".loopwright.{2**22 + 1}.0123456789ab.tmp")
    assert ensure_own_folder(Layout(tmp_path, Flavour.INTEROP, tmp_path / "home"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".loop", ".loopwright"]


def test_the_faster_process_wins_and_nothing_is_left(tmp_path, monkeypatch):
    rename = os.rename

    def late(source, target):
        (tmp_path / ".loopwright").mkdir()
        (tmp_path / ".loopwright" / "config.toml").write_text("theirs")
        rename(source, target)

    monkeypatch.setattr(os, "rename", late)
    assert not make_own_folder(str(tmp_path), Flavour.INTEROP)
    assert [path.name for path in tmp_path.iterdir()] == [".loopwright"]
    assert (tmp_path / ".loopwright" / "config.toml").read_text() == "theirs"


def test_a_disk_that_takes_nothing_is_an_error_and_leaves_nothing(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        make_own_folder(str(tmp_path), Flavour.INTEROP)
    assert list(tmp_path.iterdir()) == []
