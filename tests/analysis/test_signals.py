"""Failures in hand-made repositories, each with the gate that it belongs to."""

from __future__ import annotations

from loopwright.analysis.messages import ChangeKind
from loopwright.analysis.preregistered import NUMBERS, CatchingGate


def test_a_fix_soon_after_a_feature_on_the_same_file_is_its_failure(story, read):
    feature = story.commit("feat: x", {"a.py": "1"}, day=0)
    story.commit("fix: x", {"a.py": "2"}, day=3)
    assert read(story.path).failures == [(ChangeKind.FIX, CatchingGate.REVIEW, feature)]


def test_a_late_fix_and_a_fix_elsewhere_are_not(story, read):
    story.commit("feat: x", {"a.py": "1"}, day=0)
    story.commit("fix: y", {"b.py": "1"}, day=1)
    story.commit("fix: x", {"a.py": "2"}, day=NUMBERS.soon_days + 0.1)
    signals = read(story.path).signals
    assert signals.failures == ()
    assert signals.fixes_of_nothing_recent == 2


def test_the_border_of_soon_belongs_to_it(story, read):
    story.commit("feat: x", {"a.py": "1"}, day=0)
    story.commit("fix: x", {"a.py": "2"}, day=NUMBERS.soon_days)
    assert len(read(story.path).failures) == 1


def test_a_fix_blames_the_last_feature_that_it_shares_a_file_with(story, read):
    story.commit("feat: x", {"a.py": "1"}, day=0)
    last = story.commit("feat: y", {"a.py": "2", "b.py": "1"}, day=1)
    story.commit("feat: z", {"c.py": "1"}, day=2)
    story.commit("fix: x", {"a.py": "3"}, day=3)
    assert read(story.path).failures == [(ChangeKind.FIX, CatchingGate.REVIEW, last)]


def test_words_about_machines_and_files_that_machines_check_are_for_ci(story, read):
    feature = story.commit("feat: x", {"a.py": "1", "tests/test_a.py": "1"}, day=0)
    story.commit("fix: the build", {"a.py": "2"}, day=1)
    story.commit("fix: what was wrong", {"tests/test_a.py": "2"}, day=2)
    assert read(story.path).failures == [(ChangeKind.FIX, CatchingGate.CI, feature)] * 2


def test_what_the_diff_did_not_show_is_for_self_reflection(story, read):
    feature = story.commit("feat: x", {"a.py": "1"}, day=0)
    named = f"\n\nFixes: {feature[:12]}"
    story.commit(f"fix: x{named}", {"a.py": "2", "b.py": "1", "c.py": "1"}, day=1)
    story.commit(f"fix: half of it{named}", {"a.py": "3", "d.py": "1"}, day=2)
    story.commit("fix: x when two race", {"a.py": "4", "tests/t.py": "1"}, day=3)
    assert [gate for _, gate, culprit in read(story.path).failures if culprit == feature] == [
        CatchingGate.REFLECTION,
        CatchingGate.REVIEW,
        CatchingGate.REFLECTION,
    ]


def test_shared_files_blame_a_feature_only_when_they_are_half_of_the_fix(story, read):
    wide = story.commit("feat: x", {"a.py": "1", "b.py": "1"}, day=0)
    story.commit("feat: y", {"c.py": "1"}, day=1)
    story.commit("fix: one of three", {"c.py": "2", "d.py": "1", "e.py": "1"}, day=2)
    story.commit(
        "fix: two of four, the last feature has one", dict.fromkeys(("a.py", "b.py", "c.py", "f.py"), "3"), day=3
    )
    reading = read(story.path)
    assert reading.failures == [(ChangeKind.FIX, CatchingGate.REVIEW, wide)]
    assert reading.signals.loosely_linked == 1


def test_prose_and_lock_files_of_a_fix_are_not_files_to_cover(story, read):
    feature = story.commit("feat: x", {"a.py": "1"}, day=0)
    story.commit("fix: x", {"a.py": "2", "README.md": "1", "CHANGELOG.md": "1", "uv.lock": "1"}, day=1)
    assert read(story.path).failures == [(ChangeKind.FIX, CatchingGate.REVIEW, feature)]


def test_tests_and_prose_in_a_fix_do_not_count_as_hidden(story, read):
    story.commit("feat: x", {"a.py": "1"}, day=0)
    story.commit("fix: x", {"a.py": "2", "tests/test_a.py": "1", "README.md": "1", "uv.lock": "1"}, day=1)
    assert [gate for _, gate, _ in read(story.path).failures] == [CatchingGate.REVIEW]


def test_prose_and_lock_files_link_nothing(story, read):
    story.commit("feat: x", {"CHANGELOG.md": "1", "uv.lock": "1", "a.py": "1"}, day=0)
    story.commit("fix: words", {"CHANGELOG.md": "2"}, day=1)
    story.commit("fix: y", {"uv.lock": "2", "b.py": "1"}, day=2)
    signals = read(story.path).signals
    assert signals.failures == ()
    assert (signals.prose_only, signals.fixes_of_nothing_recent) == (1, 1)


def test_a_revert_finds_its_culprit_by_commit_short_name_and_title(story, read):
    one = story.commit("feat: x", {"a.py": "1"}, day=0)
    two = story.commit("feat: y (#2)", {"b.py": "1"}, day=1)
    three = story.commit("feat: z", {"c.py": "1"}, day=2)
    story.commit(f'Revert "something else"\n\nThis reverts commit {one}.', {"a.py": None}, day=200)
    story.commit('Revert "feat: y (#2)" (#3)\n\nIt broke production.', {"b.py": None}, day=201)
    story.commit(f"revert: z\n\nThis reverts commit {three[:9]}.\n\nThe build is red.", {"c.py": None}, day=202)
    story.commit('Revert "never seen"', {"d.py": "1"}, day=203)
    assert read(story.path).failures == [
        (ChangeKind.REVERT, CatchingGate.REVIEW, one),
        (ChangeKind.REVERT, CatchingGate.REFLECTION, two),
        (ChangeKind.REVERT, CatchingGate.CI, three),
        (ChangeKind.REVERT, CatchingGate.REVIEW, None),
    ]


def test_a_revert_that_names_nothing_has_no_culprit(story, read):
    story.commit("", {"a.py": "1"}, day=0)
    story.commit("revert:  ", {"a.py": None}, day=1)
    story.commit("x\n\nThis reverts commit 0123456789.", {"b.py": "1"}, day=2)
    assert {culprit for _, _, culprit in read(story.path).failures} == {None}


def test_a_revert_of_a_revert_is_no_failure(story, read):
    story.commit("feat: x", {"a.py": "1"}, day=0)
    revert = story.commit('Revert "feat: x"', {"a.py": None}, day=1)
    story.commit(f'Revert "Revert "feat: x""\n\nThis reverts commit {revert}.', {"a.py": "1"}, day=2)
    signals = read(story.path).signals
    assert (len(signals.failures), signals.relands) == (1, 1)


def test_squash_merges_are_features_and_fixes(story, read):
    feature = story.commit("A new page (#4)", {"page.py": "1"}, day=0)
    story.commit("Fix the new page (#5)", {"page.py": "2"}, day=1)
    assert read(story.path).failures == [(ChangeKind.FIX, CatchingGate.REVIEW, feature)]


def test_work_that_was_fixed_before_it_landed_never_failed(story, read):
    base = story.commit("start", {"z": "1"}, day=0)
    story.commit("feat: x", {"a.py": "1"}, day=1, branch="topic", start=base)
    story.commit("fix: x", {"a.py": "2"}, day=2, branch="topic")
    tip = story.commit('Revert "fix: x"', {"a.py": "1"}, day=2.5, branch="topic")
    story.commit("Merge branch 'topic'", day=3, merge=tip)
    assert read(story.path).failures == []


def test_a_merged_branch_is_one_feature_that_lands_with_its_merge(story, read):
    base = story.commit("start", {"z": "1"}, day=0)
    story.commit("work", {"a.py": "1"}, day=1, branch="topic", start=base)
    tip = story.commit("more work", {"b.py": "1"}, day=2, branch="topic")
    merge = story.commit("Merge pull request #1 from me/topic\n\nA page", day=100, merge=tip)
    story.commit("fix: page", {"a.py": "2", "b.py": "2"}, day=103)
    reading = read(story.path)
    assert reading.failures == [(ChangeKind.FIX, CatchingGate.REVIEW, merge)]
    assert reading.signals.features == 1


def test_a_merged_fix_branch_mends_what_landed_before(story, read):
    feature = story.commit("feat: x", {"a.py": "1"}, day=0)
    tip = story.commit("work", {"a.py": "2"}, day=1, branch="hotfix/x", start=feature)
    story.commit("Merge branch 'hotfix/x'", day=2, merge=tip)
    assert read(story.path).failures == [(ChangeKind.FIX, CatchingGate.REVIEW, feature)]


def test_a_merge_of_many_peoples_work_counts_each_of_its_commits(story, read):
    base = story.commit("feat: x", {"a.py": "1"}, day=0)
    story.commit("feat: y", {"b.py": "1"}, day=1, branch="net", start=base)
    tip = story.commit("net: fix x", {"a.py": "2"}, day=2, branch="net")
    story.commit("Merge tag 'net-1' of somewhere", day=3, merge=tip)
    reading = read(story.path)
    assert reading.failures == [(ChangeKind.FIX, CatchingGate.REVIEW, base)]
    assert reading.signals.features == 2


def test_a_commit_that_names_what_it_mends_counts_inside_a_feature_too(story, read):
    feature = story.commit("feat: x", {"a.py": "1"}, day=0)
    story.commit(
        f'check the length\n\nFixes: {feature[:12]} ("feat: x")', {"a.py": "2"}, day=1, branch="t", start=feature
    )
    story.commit("feat: y", {"b.py": "1"}, day=1.5, branch="t")
    story.commit("Merge branch 't'", day=2, merge=story.git("rev-parse", "t"))
    assert (ChangeKind.FIX, CatchingGate.REVIEW, feature) in read(story.path).failures


def test_a_very_wide_change_is_linked_to_nothing_by_its_files(story, read):
    story.commit("feat: reformat", {f"f{number}.py": "1" for number in range(NUMBERS.wide_files + 1)}, day=0)
    story.commit("fix: x", {"f1.py": "2"}, day=1)
    signals = read(story.path).signals
    assert (signals.failures, signals.too_wide) == ((), 1)


def test_clocks_that_went_back_do_not_hide_a_failure(story, read):
    feature = story.commit("feat: x", {"a.py": "1"}, day=10)
    story.commit("fix: x", {"a.py": "2"}, day=9)
    assert read(story.path).failures == [(ChangeKind.FIX, CatchingGate.REVIEW, feature)]
