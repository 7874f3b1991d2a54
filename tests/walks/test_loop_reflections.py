"""A builder's turn is reflected on when that is asked for: facts from the sandbox, claims from the mailbox."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest

from loopwright.reflection.store import read_reflections

REPORT = {
    "confidence": 0.4,
    "most_likely_wrong": {"surface": "auth", "description": "sessions"},
    "known_not_in_diff": "the clock",
}


def leaves(report):
    return f"echo work > made.py; printf %s {shlex.quote(json.dumps(report))} > $REFLECTION_INPUT"


def stored(loops):
    shelf = read_reflections(loops.project.own / "reflections")
    assert shelf.unreadable == ()
    return [one.reflection for one in shelf.stored if one.point is None]


@pytest.mark.parametrize("mode", ["solo", "off"])
def test_a_builders_self_report_is_merged_into_the_reflection_of_its_turn(loops, mode):
    risk = {"needs_review": False, "score": 0, "surface": "none", "reason": "nothing"}
    made = {"source": "stop-hook", "reflection_attempt": 1, "degraded": False, "reflection_mode": "solo"}
    forged = {
        "schema": "reflection.v1", "task_ref": "x", "agent": "other", "session_id": "x", "repo": "x", **REPORT,
        "timestamp": "2026-01-01T00:00:00Z", "risk": risk, "files_changed": ["elsewhere.py"], "provenance": made,
    }  # fmt: skip
    leaves_forged = (
        f"mkdir -p $REFLECTION_DIR; echo {shlex.quote(json.dumps(forged))} > $REFLECTION_DIR/x.reflection.json"
    )
    works = [
        {"role": "builder", "run": leaves(REPORT), "session": "s-1"},
        {"role": "builder", "run": "echo more > more.py", "session": "s-1"},
        {"role": "builder", "run": f"{leaves_forged}; echo third > third.py; echo x > done"},
    ]
    # With reflection on, each builder is asked for its confidence three times, and gives no answer.
    mute = {"role": "builder", "fail": "refused"}
    asked = [turn for work in works for turn in (mute, work, mute, mute)]
    loops.configure(turns=works if mode == "off" else asked)
    loops.project.environment["REFLECTION_MODE"] = mode
    loop_id = loops.new("--task", "one")
    loops.run("task", "add", loop_id, "two")
    loops.run("task", "add", loop_id, "three")
    loops.run("start", loop_id, code=14)  # only the last task is proven
    if mode == "off":
        assert stored(loops) == []
        return
    first, second, third = stored(loops)
    assert (first.confidence, first.most_likely_wrong.surface, first.known_not_in_diff) == (0.4, "auth", "the clock")
    assert (first.files_changed, first.agent, first.session_id) == (["made.py"], "scripted", "s-1")
    assert (first.task_ref, first.provenance.degraded) == (f"{loop_id}/T-1", False)
    assert (first.risk.needs_review, first.risk.surface) == (True, "auth"), "a claim raises the floor"
    assert (second.confidence, second.files_changed, second.provenance.degraded) == (None, ["more.py"], True)
    assert second.provenance.reflection_attempt == 2
    # Only the claims of a report in the mailbox are used.
    assert (third.files_changed, third.agent, third.confidence) == (["done", "third.py"], "scripted", 0.4)
    assert third.risk.needs_review
    assert loops.project.run("reflect", "list").stdout.count(f"{loop_id}/T-") == 12


@pytest.mark.parametrize("by", ["variable", "workspace"])
def test_a_turn_and_its_points_are_kept_by_the_same_rules_masks_and_folder(loops, tmp_path, by):
    elsewhere = tmp_path / "elsewhere"
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = {**REPORT, "most_likely_wrong": {"surface": "none", "description": f"it prints {key}"}}
    asked = {"role": "builder", "answer": json.dumps({**said, "confidence": 0.9})}
    rule = {"surface": "infra", "words": ["gadget"], "weight": 0.9, "because": "a gadget"}
    section = f"[risk]\nrules = [{', '.join(_toml(rule) for rule in [rule])}]"
    chosen = f"\n[reflection]\ndir = {json.dumps(str(elsewhere))}" if by == "workspace" else ""
    work = leaves(said).replace("made.py", "gadget.py") + "; touch done"
    loops.configure(turns=[asked, {"role": "builder", "run": work}, asked, asked], more=section + chosen)
    loops.project.environment["REFLECTION_MODE"] = "solo"
    if by == "variable":
        loops.project.environment["REFLECTION_DIR"] = str(elsewhere)
    loops.run("start", loops.new("--task", "one"))
    shelf = read_reflections(elsewhere if by == "variable" else loops.project.own / "reflections")
    # A workspace's own file may come from a repository, so it can't name an outside folder.
    assert elsewhere.exists() is (by == "variable")
    records = {one.point: one.reflection for one in shelf.stored}
    assert set(records) == {None, "before", "after", "adversarial"}
    assert len(loops.project.run("reflect", "list", "--json").json()["reflections"]) == 4
    for point, one in records.items():
        assert "it prints" in one.most_likely_wrong.description
        assert key not in one.most_likely_wrong.description, point
        assert one.risk.surface == ("none" if point == "before" else "infra"), point
        assert (one.task_ref, one.repo) == (records[None].task_ref, records[None].repo)


def _toml(rule):
    return "{" + ", ".join(f"{name} = {json.dumps(value)}" for name, value in rule.items()) + "}"


def test_an_agents_progress_reports_are_shown_while_it_works(loops):
    note = shlex.quote(json.dumps({"text": "half of it is there"}))
    waits = (
        f"echo {note} >> $LOOPWRIGHT_MAILBOX/progress.jsonl; until [ -e {loops.project.root}/go ]; do sleep 0.05; done"
    )
    loops.configure(turns=[{"role": "builder", "run": f"{waits}; echo x > done"}])
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as worker:
        command = loops.project.command("loop", "logs", loop_id, "--follow")
        with subprocess.Popen(
            command, cwd=loops.project.root, env=loops.project.environment, stdout=subprocess.PIPE, text=True
        ) as seen:
            assert any("builder says: half of it is there" in line for line in seen.stdout)
            loops.project.write("go", "")
            assert "completed" in seen.stdout.read()
        assert worker.wait() == 0
    assert loops.run("logs", loop_id).stdout.count("half of it is there") == 1
