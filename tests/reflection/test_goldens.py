"""Reflections and captures that version 1 wrote must load for ever, to the same bytes."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel import codec
from loopwright.reflection.store import decode_capture, decode_reflection, read_reflections

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "v1"


def test_a_reflection_of_version_1_loads_and_encodes_to_the_same_bytes():
    (path,) = GOLDENS.glob("*.reflection.json")
    data = path.read_bytes()
    assert codec.to_json(decode_reflection(data)) == data


def test_a_capture_of_version_1_loads_and_encodes_to_the_same_bytes():
    (path,) = GOLDENS.glob("*.capture.json")
    data = path.read_bytes()
    assert codec.to_json(decode_capture(data)) == data


def test_both_are_found_on_a_shelf_with_what_they_say():
    shelf = read_reflections(GOLDENS)
    assert shelf.unreadable == ()
    assert [(one.point, one.reflection.confidence) for one in shelf.stored] == [(None, 0.7), ("adversarial", 0.4)]
    assert shelf.stored[0].reflection.files_changed == ["src/auth.py", "src/byte\\xff.py"]
