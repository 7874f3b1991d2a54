"""The keys under which runs on a base are found again."""

from __future__ import annotations

from loopwright.evidence.known_results import beside_key, key_on_tree, ran_beside, repeated_key

USUAL = "0" * 64


def on_tree(depends_on, tree="t"):
    return key_on_tree(depends_on, "commit", tree)


def test_all_runs_of_the_same_commands_on_a_base_share_the_first_part_of_their_key():
    base = on_tree(USUAL)
    more = {
        on_tree(key)
        for key in (
            repeated_key(USUAL, 0), repeated_key(USUAL, 1), repeated_key(USUAL, 1, ("a.py",)),
            beside_key(USUAL), beside_key(repeated_key(USUAL, 0)),
        )
    }  # fmt: skip
    assert len(more) == 5
    assert {key.partition(":")[0] for key in more} == {base}
    assert on_tree(USUAL, "the work") != base
    assert on_tree(repeated_key(USUAL, 0), "the work").partition(":")[0] != base


def test_a_key_says_whether_another_run_may_have_disturbed_the_run():
    rows = ["", USUAL, repeated_key(USUAL, 0), beside_key(USUAL), beside_key(repeated_key(USUAL, 0))]
    assert [ran_beside(on_tree(key) if key else key) for key in rows] == [False, False, False, True, True]
