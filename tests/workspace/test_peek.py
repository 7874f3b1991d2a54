"""The language before any workspace is opened: variable, workspace, the user's own file, in this order."""

from __future__ import annotations

import pytest

from loopwright.workspace.peek import language_setting


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "project" / ".loopwright").mkdir(parents=True)
    (tmp_path / "project" / "deep").mkdir()
    (tmp_path / "own" / "loopwright").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "project" / "deep")
    return tmp_path


def asked(place, **environment):
    return language_setting({"XDG_CONFIG_HOME": str(place / "own"), **environment})


def test_nothing_is_set(place):
    assert asked(place) == "auto"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('[workspace]\nlanguage = "zh"\n', "zh"),
        ("[run]\njobs = 1\n\n[workspace] # ours\nlayout = 'unified'\nlanguage = 'en'\n", "en"),
        ('[workspace]\nlayout = "unified"\n[other]\nlanguage = "zh"\n', "auto"),
        ('[workspace]\ndocument_language = "zh"\n', "auto"),
        ('[workspace]\nlanguage = "fr"\n', "auto"),
        ("language = [", "auto"),
    ],
)
def test_the_workspace_says(place, text, language):
    (place / "project" / ".loopwright" / "config.toml").write_text(text, encoding="utf-8")
    assert asked(place) == language


def test_the_nearer_wins(place):
    (place / "own" / "loopwright" / "config.toml").write_text('[workspace]\nlanguage = "zh"\n', encoding="utf-8")
    assert asked(place) == "zh"
    (place / "project" / ".loopwright" / "config.toml").write_text('[workspace]\nlanguage = "en"\n', encoding="utf-8")
    assert asked(place) == "en"
    assert asked(place, LOOPWRIGHT_WORKSPACE_LANGUAGE="zh") == "zh"
    assert asked(place, LOOPWRIGHT_WORKSPACE_LANGUAGE="nonsense") == "en"


def test_a_file_that_is_not_text_is_skipped(place):
    (place / "project" / ".loopwright" / "config.toml").write_bytes(b"\xff\xfe\x00")
    assert asked(place) == "auto"
