"""What we add to an agent's turn stays small, by a real tokenizer; and the docs say how much it is."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
tokens = importlib.import_module("tokens")
sys.path.pop(0)


def test_no_turn_gets_more_than_three_hundred_of_our_tokens(tmp_path):
    why = tokens.missing()
    if why is not None:
        pytest.skip(why)
    turns = tokens.counted(tmp_path)
    assert [turn.name for turn in turns if turn.total > tokens.LIMIT] == []
    assert all(turn.prompt > 20 for turn in turns), "something was counted"
    assert sum(turn.is_build and turn.hook > 20 for turn in turns) == 3
    assert tokens.PAGE.read_text(encoding="utf-8") == tokens.page(turns), "bench/tokens.py writes the page again"


def test_the_page_exists_even_without_a_tokenizer():
    listed = [line for line in tokens.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| build")]
    assert len(listed) == 3
    assert all(int(line.split("|")[-2]) <= tokens.LIMIT for line in listed)
