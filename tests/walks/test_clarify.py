"""`loopwright clarify`, `answer`, `approve`, `reject`, `status`, `next`: from an idea to a spec that may be planned."""

from __future__ import annotations

import json
import subprocess
import time

import pytest
import yaml

ANSWER = "a plain answer of some words"
# Answers that say different things.
ANSWERS = [f"it must {3 * chr(97 + n)} every {chr(122 - n) * 4} before {chr(98 + n) * 2}" for n in range(25)]
CONFIG = (
    '[agents]\ndefault = "scripted"\n[agents.scripted]\nturns = ".loopwright/turns.yaml"\n'
    '[sandbox]\nisolation = "none"\n'
)


def ok(project, *arguments):
    done = project.run(*arguments)
    assert done.exit_code == 0, done.stdout + done.stderr
    return done


def refusal(project, *arguments):
    done = project.run(*arguments, "--json")
    assert done.exit_code == 1, done.stdout + done.stderr
    record = json.loads(done.stderr.splitlines()[-1])
    assert record["ok"] is False
    assert record["next"]
    return record


def spec_of(project, slug="x"):
    return project.own / "workflows" / slug / "spec.md"


def clarified(project, slug="x"):
    """Every question of the tool's own answered."""
    answers = "".join(f"{answer}\n" for answer in ANSWERS).encode()
    done = project.run("clarify", slug, "--idea", "an idea", "--interactive", stdin=answers)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert 3 < done.stdout.count("> ") < 30, "one question after the other, and an end"


def status(project, slug="x"):
    return project.ask("status", slug)


def codes(project, gate, slug="x"):
    return [one["code"] for one in status(project, slug)["readiness"][gate]["blockers"]]


def test_without_an_agent_the_tool_asks_until_the_spec_is_clear(project):
    ok(project, "clarify", "x", "--idea", "an idea")
    assert codes(project, "plan") == [
        "unresolved_ambiguity", "clarify_ambiguity_score_above_threshold", "clarify_non_goals_unresolved",
        "clarify_decision_boundaries_unresolved", "clarify_pressure_pass_incomplete",
    ]  # fmt: skip
    asked = ok(project, "clarify", "x", "--json").json()
    assert asked["item"] == "A-1", "an open question is not followed by another"
    clarified(project)
    assert codes(project, "plan") == []
    state = json.loads((project.own / "workflows" / "x" / "state.json").read_text())
    assert (state["current_stage"], state["stage_status"]) == ("clarify", "awaiting-approval")
    assert state["requested_transition"] == "clarify->plan"
    assert state["pending_user_decision"] == "approve clarify->plan"
    assert ANSWERS[0] in spec_of(project).read_text()
    assert "approve x --from clarify --to plan" in ok(project, "next").stdout
    assert list((project.own / "specs").glob("clarify-x-*.md"))


def test_an_approval_is_bound_to_its_content_and_names_later_changes(project):
    clarified(project)
    ok(project, "approve", "x", "--from", "clarify", "--to", "plan")
    assert status(project)["authorization"]["plan"] == {
        "authorized": True, "approval_status": "approved", "transition": "clarify->plan"
    }  # fmt: skip
    assert status(project)["recommended_next_action"] == "loopwright plan x"
    spec = spec_of(project)
    spec.write_text(spec.read_text().replace("## Constraints\n\n", "## Constraints\n\n- no new dependency\n"))
    found = status(project)
    assert found["authorization"]["plan"]["approval_status"] == "void"
    assert found["recommended_next_action"] == "loopwright approve x --from clarify --to plan"
    # Frontmatter and comments are not part of the approved content.
    ok(project, "approve", "x", "--from", "clarify", "--to", "plan")
    spec.write_text(spec.read_text().replace("---\nworkflow: x\n", "---\nworkflow: x\nseen: yes\n") + "<!-- hm -->\n")
    assert status(project)["authorization"]["plan"]["authorized"]


def test_refusals_have_their_codes(project):
    assert refusal(project, "status", "y")["error"] == "workflow_not_initialized"
    assert project.run("clarify", "y").exit_code == 2, "a new one needs an idea"
    assert project.run("clarify", "—", "--idea", "x").exit_code == 2, "nothing is left of that name"
    assert refusal(project, "clarify", "x", "--idea", "i", "--profile", "quick")["error"] == "invalid_clarify_profile"
    ok(project, "clarify", "x", "--idea", "an idea")
    blocked = refusal(project, "approve", "x", "--from", "clarify", "--to", "plan")
    assert blocked["error"] == "clarify_readiness_blocked"
    assert blocked["blockers"][0]["code"] == "unresolved_ambiguity"
    assert (
        refusal(project, "approve", "x", "--from", "plan", "--to", "build")["error"] == "approval_from_stage_mismatch"
    )
    assert refusal(project, "approve", "x", "--from", "plan", "--to", "done")["error"] == "invalid_transition"
    assert refusal(project, "answer", "x", "A-7", "text")["error"] == "unknown_question"
    assert refusal(project, "answer", "x", "A-1", "  ")["error"] == "empty_answer"
    assert refusal(project, "answer", "x", "D-1", "text")["error"] == "unknown_decision"
    ok(project, "answer", "x", "A-1", "said")
    again = refusal(project, "answer", "x", "A-1", "otherwise")
    assert (again["error"], "already answered" in again["message"]) == ("unknown_question", True)


def test_a_rejection_stays_until_the_next_approval(project):
    clarified(project)
    ok(project, "reject", "x", "--from", "clarify", "--to", "plan", "--reason", "too vague")
    state = json.loads((project.own / "workflows" / "x" / "state.json").read_text())
    assert state["approval"]["plan"]["reason"] == "too vague"
    refused = refusal(project, "plan", "x", "--agent", "unknown")
    assert [one["code"] for one in refused["blockers"]] == ["approval_rejected_plan"]
    ok(project, "approve", "x", "--from", "clarify", "--to", "plan")


def test_a_deleted_spec_is_restored_and_an_invalid_spec_is_named_with_its_line(project):
    clarified(project)
    spec = spec_of(project)
    whole = spec.read_bytes()
    spec.unlink()
    assert codes(project, "plan") == []
    assert spec.read_bytes() == whole
    spec.write_bytes(whole.replace(b"- A-1 | answered |", b"- A-1 | perhaps |"))
    blockers = status(project)["readiness"]["plan"]["blockers"]
    assert [one["code"] for one in blockers] == ["spec_invalid"]
    line = whole[: whole.index(b"- A-1 | answered")].count(b"\n") + 1
    assert f"line {line}: A-1 is 'perhaps'" in blockers[0]["message"]
    assert refusal(project, "clarify", "x")["error"] == "clarify_readiness_blocked"
    assert any(kept.read_bytes() == whole for kept in (project.own / "workflows" / "x" / "objects").iterdir())
    spec.write_bytes(whole.replace(b"\n", b"\r\n"))
    assert codes(project, "plan") == []


@pytest.mark.parametrize("damage", [b"", b"\0\0\0", b"\xff\xfe", b"x" * (5 << 20)])
def test_no_spec_causes_a_traceback_or_a_loss(project, damage):
    ok(project, "clarify", "x", "--idea", "an idea")
    whole = spec_of(project).read_bytes()
    spec_of(project).write_bytes(damage)
    assert status(project)["readiness"]["plan"]["ready"] is False
    assert any(kept.read_bytes() == whole for kept in (project.own / "workflows" / "x" / "objects").iterdir())


def test_an_agent_asks_and_fills_empty_sections_and_never_overwrites(project):
    turns = [
        {"role": "clarifier", "answer": json.dumps({
            "sections": {"In Scope": "- the parser", "Intent": "something else", "Clarified Answers": "- A-1: no"},
            "question": "Which port?", "ambiguity": 0.5})},
        {"role": "clarifier", "answer": "this is no JSON"},
        {"role": "clarifier", "answer": json.dumps({
            "sections": {"Constraints": "- none"}, "question": "Also under load?", "presses_on": "A-1"})},
    ]  # fmt: skip
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    project.write(".loopwright/config.toml", CONFIG)
    assert ok(project, "clarify", "x", "--idea", "an idea", "--json").json()["question"] == "Which port?"
    text = spec_of(project).read_text()
    assert "- the parser" in text
    assert "something else" not in text
    assert "A-1: no" not in text
    ok(project, "answer", "x", "A-1", "8787")
    asked = ok(project, "clarify", "x", "--json").json()
    assert (asked["item"], asked["question"]) == ("A-2", "Also under load?")
    assert "clarify_pressure_pass_incomplete" not in codes(project, "plan")
    found = status(project)
    assert found["cost"]["turns"] == 3, "the answer that was no JSON was paid for too"
    assert list(project.sandboxes.iterdir()) == []


def score(project):
    found = {one["code"]: one["message"] for one in status(project)["readiness"]["plan"]["blockers"]}
    return found.get("clarify_ambiguity_score_above_threshold", "")


def test_one_sentence_answers_one_question(project):
    stdin = f"{ANSWER}\n{ANSWER.upper()} 2!\n".encode() * 15
    done = project.run("clarify", "x", "--idea", "an idea", "--interactive", stdin=stdin)
    assert "the answer to A-2 does not count: it repeats the answer to A-1" in done.stdout
    assert "the ambiguity score is 0.70, above 0.20" in score(project), "one of ten sections"
    assert refusal(project, "answer", "x", "A-2", "what is in scope")["error"] == "answer_not_accepted"
    # The same sentence, written into the spec by hand.
    spec = spec_of(project)
    text = (
        spec.read_text().replace("A-2 | open |", "A-2 | answered |").replace("- A-1: a", f"- A-2: {ANSWER}\n- A-1: a")
    )
    spec.write_text(text.replace("## Constraints\n", f"## Constraints\n\n{ANSWER}\n"))
    assert "answer_not_accepted_A-2" in codes(project, "plan")
    assert "the ambiguity score is 0.70, above 0.20" in score(project)
    ok(project, "answer", "x", "A-2", "only the parser")
    assert "answer_not_accepted_A-2" not in codes(project, "plan")


def test_the_agent_that_asked_judges_the_answer(project):
    refuses = {"answers": {"A-1": {"accepted": False, "why": "it names no port"}}, "question": "and the host?"}
    turns = [
        {"role": "clarifier", "answer": json.dumps(reply)}
        for reply in ({"question": "Which port?"}, refuses, {"answers": {"A-1": {"accepted": True}}})
    ]
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    project.write(".loopwright/config.toml", CONFIG)
    ok(project, "clarify", "x", "--idea", "an idea")
    before = score(project)
    ok(project, "answer", "x", "A-1", "whatever you like")
    assert "answers that the agent has not judged" in score(project)
    asked = ok(project, "clarify", "x", "--json").json()
    assert (asked["item"], asked["question"]) == ("A-1", "Which port?"), "the question is open again"
    assert "answer_not_accepted_A-1" in codes(project, "plan")
    assert "it names no port" in ok(project, "status", "x").stdout
    assert score(project) == before
    ok(project, "answer", "x", "A-1", "8787")
    ok(project, "clarify", "x")
    assert score(project) != before
    assert codes(project, "plan")[0] == "unresolved_ambiguity", "the next question"
    assert "A-1" not in status(project)["readiness"]["plan"]["blockers"][0]["message"]


def test_two_clarify_at_once_record_one_question(project, tmp_path):
    there, go = tmp_path / "there", tmp_path / "go"
    waits = {"role": "clarifier", "run": f"touch {there}; while ! test -e {go}; do sleep 0.05; done"}
    turns = [{**waits, "answer": json.dumps({"question": "Which port?"})}]
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    project.write(".loopwright/config.toml", CONFIG)
    ok(project, "clarify", "x", "--idea", "an idea", "--agent", "")
    ok(project, "answer", "x", "A-1", "people")
    with subprocess.Popen(
        project.command("clarify", "x", "--json"), cwd=project.root, env=project.environment, stdout=subprocess.PIPE
    ) as first:
        while not there.exists():
            assert first.poll() is None
            time.sleep(0.02)
        second = ok(project, "clarify", "x", "--agent", "", "--json").json()
        go.touch()
        assert json.loads(first.communicate()[0])["question"] == second["question"]
    assert spec_of(project).read_text().count("| open |") == 1


def test_two_people_at_once_give_one_approval(project):
    clarified(project)
    revision = status(project)["revision"]
    command = project.command("approve", "x", "--from", "clarify", "--to", "plan", "--revision", str(revision))
    both = [
        subprocess.Popen(
            command, cwd=project.root, env=project.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = [process.communicate() for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert sum(b"another process changed it" in errors for _, errors in said) == 1


def test_an_idea_that_looks_like_a_part_of_a_spec_stays_in_its_section(project):
    idea = "Greet.\n## Intent\n## Non-Goals\n- none\n```\nopen"
    done = project.run("clarify", "greet", "--idea", idea)
    assert done.exit_code == 0, done.stderr
    assert "clarify_non_goals_unresolved" in done.stdout


@pytest.mark.parametrize(
    "answer",
    ["no JSON at all", {"question": "x" * 20_000}, {"question": "a\0b"}, {"sections": {"Intent": "a\0b"}}],
    ids=["no JSON", "long question", "NUL in a question", "NUL in a section"],
)
def test_an_unusable_answer_blocks_nothing_and_every_turn_keeps_its_own_record(project, answer):
    text = answer if isinstance(answer, str) else json.dumps(answer)
    bad = {"role": "clarifier", "run": "echo worked", "answer": text}
    good = {"role": "clarifier", "run": "echo worked", "answer": json.dumps({"question": "which one?"})}
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": [bad, bad, bad, bad, good]}))
    project.write(
        ".loopwright/config.toml",
        '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n',
    )
    turns = project.own / "turns"
    for last in ("x-clarify-1-repair", "x-clarify-1-repair-2"):
        record = refusal(project, "clarify", "x", "--idea", "an idea", "--agent", "scripted")
        assert record["error"] == "AGENT_FAILED"
        assert f"{turns / last}," in record["next"], "the record of the answer that was refused"
    asked = ok(project, "clarify", "x", "--agent", "scripted", "--json").json()
    assert asked["question"] == "which one?"
    assert sorted(path.name for path in turns.iterdir()) == [
        "x-clarify-1", "x-clarify-1-2", "x-clarify-1-3", "x-clarify-1-repair", "x-clarify-1-repair-2",
    ]  # fmt: skip
    assert [path.read_text() for path in sorted(turns.glob("*/program-*.log"))] == ["worked\n"] * 5
    assert status(project)["cost"]["turns"] == 5


@pytest.mark.parametrize("text", [b"a\0b", b"x" * (5 << 20)], ids=["NUL", "long"])
def test_an_idea_that_a_spec_cannot_hold_is_refused_and_nothing_is_written(project, text):
    done = project.run("clarify", "x", "--idea", "-", stdin=text)
    assert done.exit_code == 2
    assert "the idea cannot be the intent of a spec: line " in done.stderr
    assert project.ask("status")["workflows"] == []
    ok(project, "clarify", "x", "--idea", "an idea")
