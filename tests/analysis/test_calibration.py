from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from loopwright.analysis.calibration import analyse_corpus, analyse_reports
from loopwright.analysis.corpus import read_reports
from loopwright.analysis.input_files import InputFile
from loopwright.analysis.model import Killed, NotEnoughData, Passed
from loopwright.analysis.outcomes import LandingOutcome, Outcomes, Unknown
from loopwright.analysis.preregistered import Series

START, DAY = 1_700_000_000, 86_400
LATER = START + 400 * DAY


@pytest.fixture
def analysed(tmp_path):
    def analyse(lines):
        path = tmp_path / "corpus.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return analyse_corpus(InputFile(path))

    return analyse


def lines(pairs, **more):
    return [{"confidence": confidence, "correct": right, **more} for confidence, right in pairs]


GOOD = [(0.8, False), (0.85, False), (0.9, True), (0.95, True)] * 10
BAD = [(0.8, True), (0.85, False), (0.9, True), (0.95, False)] * 10
FEW = [(0.8, False), (0.9, True)] * 4


def test_a_confidence_that_tells_right_from_wrong_passes(analysed):
    parts = analysed(lines(GOOD))
    assert isinstance(parts.verdict, Passed)
    assert parts.findings.decides is Series.REPORTED
    assert parts.findings.series[0].high.confidence.auc == 1


def test_one_that_does_not_is_killed(analysed):
    assert isinstance(analysed(lines(BAD)).verdict, Killed)


def test_only_the_self_rated_high_decide(analysed):
    # Perfect below 0.8, useless above.
    parts = analysed(lines([*BAD, *[(0.1, False)] * 50, *[(0.7, True)] * 50]))
    assert isinstance(parts.verdict, Killed)
    assert parts.findings.series[0].all.confidence.auc > 0.7


@pytest.mark.parametrize(
    "pairs", [[], FEW, [(0.9, True)] * 50, [(0.9, False)] * 50, [(0.5, True), (0.6, False)] * 50, [(0.79, True)] * 5]
)
def test_not_enough_data_is_a_verdict_of_its_own(analysed, pairs):
    parts = analysed(lines(pairs))
    assert isinstance(parts.verdict, NotEnoughData)
    assert parts.findings.decides is None
    assert "not enough data" in parts.verdict.sentence


def test_under_ten_records_have_no_number_at_all(analysed):
    one = analysed(lines(FEW)).findings.series[0]
    assert (one.brier, one.expected_calibration_error, one.bins, one.lift.lift) == (None, None, (), None)
    assert one.all.confidence.auc is None


def test_series_are_kept_apart_and_the_first_with_enough_data_decides(analysed):
    mixed = [*lines(GOOD, point="before"), *lines(BAD, point="hook"), *lines(FEW, point="after")]
    parts = analysed(mixed)
    assert [one.series for one in parts.findings.series] == [Series.AFTER, Series.HOOK, Series.BEFORE]
    # `after` has too little data; `hook` comes before `before`, though `before` would pass.
    assert parts.findings.decides is Series.HOOK
    assert isinstance(parts.verdict, Killed)


def test_the_baselines_use_the_same_records(analysed):
    pairs = [
        {
            "confidence": confidence,
            "correct": right,
            "churn": 1 if right else 500,
            "surface": "auth" if right else "none",
        }
        for confidence, right in BAD
    ]
    one = analysed([*pairs, *lines([(0.9, True)])]).findings.series[0]
    assert (one.high.churn.auc, one.high.churn.records) == (1, 40)
    assert one.high.surface.auc == 0
    assert one.high.confidence.records == 41


# --- a workspace's own reflections, judged by git


def reflection(**changes):
    record = {
        "schema": "reflection.v1",
        "task_ref": "project@main",
        "agent": "a",
        "session_id": "s1",
        "timestamp": "2023-11-14T22:13:20Z",
        "repo": "project",
        "confidence": 0.9,
        "most_likely_wrong": None,
        "known_not_in_diff": None,
        "risk": {"needs_review": False, "score": 0.4, "surface": "ui", "reason": "r"},
        "files_changed": ["a.py"],
        "provenance": {"source": "stop-hook", "reflection_attempt": 1, "degraded": False, "reflection_mode": "solo"},
    }
    return record | changes


def at(day):
    return datetime.fromtimestamp(START + day * DAY, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reflections").mkdir()
    return tmp_path / "reflections"


def write(folder, name, record):
    (folder / name).write_text(json.dumps(record) if not isinstance(record, str) else record)


def test_reports_are_read_with_their_series_and_bad_files_are_named(folder):
    write(folder, "s1-1.reflection.json", reflection())
    write(folder, "s1-2.before.capture.json", {"point": "before", "reflection": reflection(confidence=0.5)})
    write(folder, "s1-3.reflection.json", reflection(confidence=None))
    write(folder, "s1-4.reflection.json", reflection(extra=1))
    write(folder, "s1-5.during.capture.json", {"point": "during", "reflection": reflection()})
    write(folder, "s1-6.reflection.json", "nonsense")
    write(folder, "s1-7.reflection.json", reflection(timestamp="2023-99-99T99:99:99Z"))
    (folder / "s1-8.reflection.json").mkdir()
    (folder / "notes.txt").write_text("no")
    found = read_reports(folder)
    assert [(one.series, one.confidence) for one in found.reports] == [(Series.HOOK, 0.9), (Series.BEFORE, 0.5)]
    assert found.without_confidence == 1
    assert found.malformed.count == 5
    assert [reason.partition(": ")[0] for reason in found.malformed.reasons] == found.malformed.where.split(", ")
    assert found.malformed.where.startswith("s1-4.reflection.json, s1-5.during.capture.json")


def test_the_surface_comes_from_the_files_and_not_from_what_was_claimed(folder):
    claimed = {"needs_review": True, "score": 1.0, "surface": "auth", "reason": "raised by the doer"}
    write(folder, "1.reflection.json", reflection(risk=claimed, files_changed=["a.py"], timestamp=at(0)))
    write(folder, "2.reflection.json", reflection(files_changed=["a.py", "login.py"], timestamp=at(1)))
    assert [one.surface_weight for one in read_reports(folder).reports] == [0.0, 1.0]


def test_no_folder_is_no_reports(tmp_path):
    assert read_reports(tmp_path / "nothing").reports == ()


def test_what_was_said_before_the_work_takes_the_files_of_the_report_that_follows(folder):
    early = reflection(files_changed=[], timestamp=at(0), confidence=0.7)
    write(folder, "1.before.capture.json", {"point": "before", "reflection": early})
    write(folder, "2.reflection.json", reflection(files_changed=["b.py"], timestamp=at(1)))
    write(folder, "3.reflection.json", reflection(files_changed=["c.py"], timestamp=at(2), session_id="s2"))
    other = reflection(files_changed=[], timestamp=at(1.5), session_id="s3")
    write(folder, "4.before.capture.json", {"point": "before", "reflection": other})
    before, after, asked, last = read_reports(folder).reports
    assert (before.series, before.files, before.time) == (Series.BEFORE, after.files, after.time)
    # Its own session says nothing more; the next report on the same task does.
    assert (asked.work[1], asked.files) == ("s3", last.files)


@pytest.fixture
def outcome(story, read):
    def of(files, day, as_of=LATER):
        changes = read(story.path).changes
        return Outcomes(changes, as_of).of_work(frozenset(name.encode() for name in files), START + int(day * DAY))

    return of


def test_work_without_a_fix_for_thirty_days_is_right(story, outcome):
    landed = story.commit("feat: x", {"a.py": "1"}, day=1)
    story.commit("feat: y", {"a.py": "2"}, day=5)
    story.commit("fix: z", {"z.py": "2"}, day=6)
    found = outcome(["a.py"], 1)
    assert isinstance(found, LandingOutcome)
    assert (found.landed.id, found.right) == (landed, True)


@pytest.mark.parametrize(("day", "right"), [(2, False), (31, False), (31.5, True), (200, True)])
def test_a_fix_to_a_file_of_it_within_thirty_days_makes_it_wrong(story, outcome, day, right):
    story.commit("feat: x", {"a.py": "1", "b.py": "1"}, day=1)
    story.commit("fix: x", {"a.py": "2"}, day=day)
    assert outcome(["a.py", "b.py"], 1).right is right


def test_a_revert_that_names_it_makes_it_wrong(story, outcome):
    landed = story.commit("feat: x", {"a.py": "1"}, day=1)
    story.commit(f"revert: x\n\nThis reverts commit {landed}.", {"other.py": "1"}, day=20)
    assert outcome(["a.py"], 1).right is False


def test_the_works_own_commit_is_not_its_fix(story, outcome):
    story.commit("start", {"a.py": "0"}, day=-50)
    landed = story.commit("fix: what was asked for", {"a.py": "1"}, day=1.2)
    found = outcome(["a.py"], 1)
    assert (found.landed.id, found.right) == (landed, True)


def test_prose_links_nothing(story, outcome):
    story.commit("feat: x", {"a.py": "1", "README.md": "1"}, day=1)
    story.commit("fix: words", {"README.md": "2"}, day=2)
    assert outcome(["a.py", "README.md"], 1).right is True


def test_young_work_is_undecided_even_if_it_was_already_fixed(story, outcome):
    story.commit("feat: x", {"a.py": "1"}, day=1)
    story.commit("fix: x", {"a.py": "2"}, day=2)
    assert outcome(["a.py"], 1, as_of=START + 30 * DAY) is Unknown.TOO_YOUNG
    assert outcome(["a.py"], 1, as_of=START + 31 * DAY).right is False


def test_work_that_never_landed_and_work_without_files_have_no_outcome(story, outcome):
    story.commit("feat: x", {"a.py": "1"}, day=1)
    assert outcome(["b.py"], 1) is Unknown.NOT_LANDED
    assert outcome(["a.py"], 60) is Unknown.NOT_LANDED
    assert outcome([], 1) is Unknown.NO_FILES


def test_the_change_that_shares_most_files_is_the_landing(story, outcome):
    story.commit("chore: other", {"a.py": "1", "x.py": "1", "y.py": "1"}, day=0.9)
    landed = story.commit("feat: x", {"a.py": "2", "b.py": "1"}, day=1.5)
    assert outcome(["a.py", "b.py"], 1).landed.id == landed


def test_names_that_reflections_escape_are_found_in_git(story, read, folder):
    """A reflection is JSON: it holds `byte\\xff.py` and `tab\\there.py` where git has the bytes."""
    odd = {b"byte\xff.py": "byte\\xff.py", b"tab\there.py": "tab\\there.py", "grün.py".encode(): "grün.py"}
    for number, (raw, written) in enumerate(odd.items()):
        story.commit(f"feat: {number}", {raw: "1"}, day=20 * number)
        fields = {"files_changed": [written], "timestamp": at(20 * number), "task_ref": f"T-{number}"}
        write(folder, f"{number}.reflection.json", reflection(**fields))
    found = analyse_reports(read_reports(folder), read(story.path).history, LATER).findings
    assert found.left_out == {"no confidence was reported": 0}
    assert [(one.records, one.right) for one in found.series] == [(3, 3)]


def test_a_workspace_of_reflections_is_judged_as_a_whole(story, read, folder):
    for number in range(24):
        story.commit(f"feat: {number}", {f"f{number}.py": "1\n" * (1 + number)}, day=10 * number)
        if number % 2:
            story.commit(f"fix: {number}", {f"f{number}.py": "2\n"}, day=10 * number + 1)
        for turn in (1, 2):
            # The first turn's confidence is a duplicate: the session's last word on a change counts.
            said = reflection(
                confidence=0.1 * turn if turn == 1 else (0.8 if number % 2 else 0.95),
                files_changed=[f"f{number}.py"],
                timestamp=at(10 * number + turn / 100),
                session_id=f"s{number}",
            )
            write(folder, f"s{number}-{turn}.reflection.json", said)
    parts = analyse_reports(read_reports(folder), read(story.path).history, LATER)
    one = parts.findings.series[0]
    assert (one.series, one.records, one.right, one.wrong) == (Series.HOOK, 24, 12, 12)
    assert parts.findings.duplicates == 24
    assert one.high.confidence.auc == 1
    assert one.high.churn.records == 24
    assert isinstance(parts.verdict, Passed)
    assert {given.kind for given in parts.inputs} == {"reflections", "git"}
