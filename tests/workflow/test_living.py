"""The checks of a requirement move with the requirement."""

from __future__ import annotations

from loopwright.workflow.delta.model import Delta, Removed, Renamed, Requirement
from loopwright.workflow.living import Proof, SpecChecks, merge_checks


def proof(change_id):
    return Proof(change_id=change_id, workflow=change_id.removeprefix("chg-"), tree="t")


def block(name):
    return Requirement(name, "It SHALL.", (), f"### Requirement: {name}\n")


def merge(before, **deeds):
    found = SpecChecks(domain="d", requirements={name: proof("chg-old") for name in before})
    merged = merge_checks(found, Delta("d", **deeds), lambda _: proof("chg-new"))
    return {name: one.change_id for name, one in merged.requirements.items()}


def test_each_operation():
    assert merge(["a"], added=(block("b"),)) == {"a": "chg-old", "b": "chg-new"}
    assert merge(["a"], modified=(block("a"),)) == {"a": "chg-new"}
    assert merge(["a", "b"], removed=(Removed("a"),)) == {"b": "chg-old"}
    assert merge(["a"], renamed=(Renamed("a", "b"),)) == {"b": "chg-old"}


def test_a_name_that_moves_in_a_chain_or_is_used_again():
    assert merge(["a"], renamed=(Renamed("a", "b"), Renamed("b", "c"))) == {"c": "chg-old"}
    assert merge(["a"], renamed=(Renamed("a", "b"),), added=(block("a"),)) == {"b": "chg-old", "a": "chg-new"}
    assert merge(["a"], renamed=(Renamed("a", "b"),), modified=(block("b"),)) == {"b": "chg-new"}


def test_a_requirement_without_checks_gets_the_checks_of_the_change_that_names_it():
    assert merge([], renamed=(Renamed("a", "b"),)) == {"b": "chg-new"}
    assert merge([], removed=(Removed("a"),)) == {}
