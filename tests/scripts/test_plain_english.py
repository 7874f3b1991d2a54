"""The check of plain English finds words of the old dialect, in texts and in names, and leaves other words alone."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
plain_english = importlib.import_module("plain_english")
sys.path.remove(str(ROOT / "scripts"))

LISTS = tomllib.loads(plain_english.LIST.read_text("utf-8"))


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_english, "ROOT", tmp_path)
    return tmp_path / "module.py"


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ('"""Nobody survives."""', "Nobody"),
        ("x = 1  # whoever calls this", "whoever"),
        ("nobody = 1", None),
        ('"""No leftover processes."""', None),
    ],
)
def test_phrases_in_texts(module, text, phrase):
    module.write_text(text + "\n")
    words = [plain_english.Word(entry) for entry in LISTS["words"]]
    findings = list(plain_english.findings([module], words, []))
    assert [finding.partition("'")[2].partition("'")[0] for finding in findings] == ([phrase] if phrase else [])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("def told(text): ...", "told"),
        ("class CheckSaid: ...", "said"),
        ("class A:\n    def _in_words(self): ...", "in words"),
        ("async def count_the_dead(): ...", "the dead"),
        ("def copy_one(path): ...", "copy one"),
        ("class Promise: ...", "promise"),
        ("def _is_one_of_ours(): ...", "ours"),
        ("def one_line(text): ...", None),
        ("def words_of(text): ...", None),
        ("class Essay: ...", None),
        ("def f():\n    said = 1", None),
    ],
)
def test_words_in_names(module, text, word):
    module.write_text(text + "\n")
    words = [plain_english.Word(entry) for entry in LISTS["names"]]
    findings = list(plain_english.name_findings([module], words))
    assert any(f"with '{word}'" in finding for finding in findings) if word else findings == []


def test_the_name_of_a_module_is_read(module):
    module = module.with_name("agent_says.py")
    module.write_text("")
    words = [plain_english.Word(entry) for entry in LISTS["names"]]
    findings = list(plain_english.name_findings([module], words))
    assert [finding.partition(" with ")[0] for finding in findings] == ["agent_says.py:1: name agent_says"]
