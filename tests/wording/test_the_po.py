"""The check of the catalogue in `make check`: every kind of fault is found, and the checked-in files have none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def catalogue():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import catalogue as script

        yield script
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def test_what_is_checked_in_has_no_fault_and_is_compiled(catalogue):
    assert catalogue.problems() == []
    assert {path: path.read_bytes() == data for path, data in catalogue.files().items()} == {
        catalogue.PO: True,
        catalogue.MO: True,
    }


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ({}, "missing entry: 'the plan {name} is gone'"),
        ({"the plan {name} is gone": ""}, "no translation for: 'the plan {name} is gone'"),
        ({"the plan {name} is gone": "计划没有了"}, "other facts than ['name']"),
        ({"the plan {name} is gone": "计划 {name} 没有了", "an old one": "旧的"}, "unused entry: 'an old one'"),
    ],
)
def test_a_fault_is_named(catalogue, monkeypatch, tmp_path, entries, fault):
    lines = [f'msgid "{english}"\nmsgstr "{other}"\n' for english, other in {"": "", **entries}.items()]
    monkeypatch.setattr(catalogue, "PO", tmp_path / "x.po")
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)
    monkeypatch.setattr(catalogue, "sentences", lambda: {"the plan {name} is gone": ["here.py"]})
    (tmp_path / "x.po").write_text("\n".join(lines), encoding="utf-8")
    assert any(fault in problem for problem in catalogue.problems())


def test_two_sentences_that_look_alike_are_named(catalogue, monkeypatch, tmp_path):
    both = {"the plan {name} is gone": "计划 {name} 没有了", "the plan {slug} is gone": "{slug} 的计划消失"}
    lines = [f'msgid "{english}"\nmsgstr "{other}"\n' for english, other in {"": "", **both}.items()]
    monkeypatch.setattr(catalogue, "PO", tmp_path / "x.po")
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)
    monkeypatch.setattr(catalogue, "sentences", lambda: {text: ["here.py"] for text in both})
    (tmp_path / "x.po").write_text("\n".join(lines), encoding="utf-8")
    assert any("is mistaken for another message" in problem for problem in catalogue.problems())


def test_raw_sentences_anywhere_in_the_source_are_found(catalogue):
    import ast

    import wording_sources

    source = """
def f(name, count):
    '''A docstring is no sentence.'''
    raise PlanError(f"the plan {name} has {count} step{'s' if count != 1 else ''}", hint="look at it again")
    echo(message("run {name}", name=name))
    return f"loopwright status {name}"
"""
    assert dict(wording_sources._of_module(ast.parse(source))) == {
        "the plan {name} has {count} steps": False,
        "the plan {name} has {count} step": False,
        "look at it again": False,
        "run {name}": True,
    }


def test_code_that_moves_into_a_partly_left_out_file_keeps_its_messages(catalogue, monkeypatch, tmp_path):
    import wording_sources

    (tmp_path / "analysis").mkdir()
    source = 'def draw():\n    return "a figure for papers"\n\n\ndef moved():\n    return "a message for people"\n'
    (tmp_path / "analysis" / "plots.py").write_text(source)
    monkeypatch.setattr(wording_sources, "SOURCE", tmp_path)
    messages = wording_sources.sentences.__wrapped__()
    assert "a message for people" in messages
    assert "a figure for papers" not in messages


def test_an_exclusion_of_code_that_moved_away_is_a_fault(catalogue, monkeypatch):
    import wording_sources

    monkeypatch.setattr(
        wording_sources,
        "DEFINITIONS_LEFT_OUT",
        {"analysis/plots.py": ("why", "draw gone"), "analysis/gone.py": ("why", "f")},
    )
    faults = [fault for fault in catalogue.problems() if "stale exclusion" in fault]
    assert [fault.rpartition("wording_sources.py: ")[2] for fault in faults] == [
        "analysis/plots.py: gone",
        "analysis/gone.py: f",
    ]
