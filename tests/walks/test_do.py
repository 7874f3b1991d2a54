"""`loopwright do`: one command from an idea to a reviewed diff, on the gates of a build."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time

import pexpect
import pytest
import yaml
from tests.walks.workflow_kit import PYTEST, bytes_of

from loopwright.stages.person import AGENT_MARK

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[=>()][0-9A-B]?)|\r")
IDEA = "add Signer.__repr__"
SLUG = "add-signer-repr"
FILES = {
    "signer.py": "class Signer:\n    def __init__(self, key):\n        self.key = key\n",
    "tests/test_signer.py": 'from signer import Signer\n\n\ndef test_key():\n    assert Signer("a").key == "a"\n',
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n",
}


def writes(path, text, *, how=">"):
    """A script that writes a file."""
    return f"cat {how} {path} <<'END'\n{text}END\n"


WORK = writes("signer.py", '\n    def __repr__(self):\n        return f"Signer({self.key})"\n', how=">>")
TEST = 'def test_repr():\n    assert repr(Signer("a")) == "Signer(a)"\n'
NEW_TEST = writes("tests/test_repr.py", f"from signer import Signer\n\n\n{TEST}")
HONEST = {"role": "builder", "run": WORK + NEW_TEST}
SETTINGS = '[agents]\ndefault = "scripted"\n[agents.scripted]\nturns = "../turns.yaml"\n[sandbox]\nisolation = "none"\n'


def turns(project, *played):
    (project.root.parent / "turns.yaml").write_text(yaml.safe_dump({"turns": list(played)}))


@pytest.fixture
def signer(project):
    """A package with a test, and a scripted agent that does honest work in one turn."""
    for name, text in FILES.items():
        project.write(name, text)
    project.git("config", "user.name", "ann")
    project.git("config", "user.email", "ann@example.org")
    (project.root / "README").unlink()
    project.commit("a signer")
    turns(project, HONEST)
    config = f'[workspace]\nlayout = "unified"\n[project]\nsource = ["signer.py"]\ntest_command = "{PYTEST}"\n'
    project.write(".loopwright/config.toml", config + SETTINGS)
    return project


def do(project, *arguments, code=0, **more):
    done = project.run("do", *arguments, **more)
    assert done.exit_code == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def as_json(project, *arguments, code=0, **more):
    record = do(project, *arguments, "--json", code=code, **more).json()
    assert record["exit_code"] == code
    return record


def seen_by_git(project):
    return [line[3:] for line in project.git("status", "--porcelain", "-uall").splitlines()]


def last_line(done):
    return done.stdout.splitlines()[-1]


def test_one_command_makes_an_accepted_and_committed_change_and_leaves_three_files(signer):
    done = do(signer, IDEA, "--accept-if-proven", "--commit")
    assert "+        return" in done.stdout
    assert f"REQ-1 idea: {IDEA} [tests]: 1 test failed before and passes now: tests/test_repr.py" in done.stdout
    assert re.search(r"  risk 0\.\d+ of 0\.50: ", done.stdout)
    assert "cost so far:" in done.stdout
    assert f"{SLUG}: delivered" in done.stdout
    assert last_line(done) == f"  → loopwright undo {SLUG}"
    assert "def __repr__" in (signer.root / "signer.py").read_text()
    assert signer.git("log", "-1", "--format=%s %an").strip() == "Add Signer.__repr__ ann"
    assert signer.git("show", "--name-only", "--format=").split() == ["signer.py", "tests/test_repr.py"]
    page = f".loopwright/done/{SLUG}.md"
    assert seen_by_git(signer) == [".loopwright/.gitignore", ".loopwright/config.toml", page]
    assert "tests/test_repr.py::test_repr" in (signer.root / page).read_text()
    assert "1 over, by `loopwright do`" in signer.run("status").stdout
    assert signer.run("next").stdout.startswith("nothing waits for you")
    assert "workflows: checked: 1, no problems" in signer.run("doctor").stdout
    assert signer.run("undo", SLUG).exit_code == 0
    assert seen_by_git(signer)[:2] == ["signer.py", "tests/test_repr.py"]
    assert not (signer.root / page).exists()


def test_a_repository_without_a_workspace_becomes_one_first(signer):
    (signer.own / "config.toml").unlink()
    (signer.own / "config.toml").parent.rmdir()
    signer.write("tests/__init__.py", "")
    signer.write(
        "tests/test_signer.py",
        "import unittest\nfrom signer import Signer\n\n\nclass TestSigner(unittest.TestCase):\n"
        '    def test_key(self):\n        self.assertEqual(Signer("a").key, "a")\n',
    )
    signer.write("pyproject.toml", '[project]\nname = "signer"\nversion = "1"\n')
    signer.commit("with unittest")
    test = (
        "import unittest\nfrom signer import Signer\n\n\nclass TestRepr(unittest.TestCase):\n"
        '    def test_repr(self):\n        self.assertEqual(repr(Signer("a")), "Signer(a)")\n'
    )
    turns(signer, {"role": "builder", "run": WORK + writes("tests/test_repr.py", test)})
    environment = {"LOOPWRIGHT_SANDBOX_ISOLATION": "none"}
    done = do(signer, IDEA, "--agent", "scripted:../turns.yaml", "--accept-if-proven", env=environment)
    first, *_ = done.stdout.splitlines()
    assert first.startswith("new workspace: .loopwright/config.toml (tests: python")
    assert first.endswith("-m unittest; source: signer.py)")
    below = [name for name in seen_by_git(signer) if name.startswith(".loopwright/")]
    assert below == [".loopwright/.gitignore", ".loopwright/config.toml", f".loopwright/done/{SLUG}.md"]
    assert "def __repr__" in (signer.root / "signer.py").read_text()


def test_without_tests_or_an_agent_it_says_what_to_type(project):
    done = do(project, "greet people", code=1)
    assert "no_checks: no test command is set, and none was found" in done.stderr
    assert "→ loopwright do 'greet people' --check" in done.stderr
    assert project.run("explain", "no_checks").exit_code == 0
    done = do(project, "greet people", "--check", "true", code=1, env={"PATH": "/usr/bin:/bin"})
    assert (
        "agent_missing: no agent is set for building, and none of these is installed: claude, codex, gemini, opencode"
        in done.stderr
    )
    assert not (project.own / "workflows").exists()


def test_outside_a_repository_it_offers_init(project, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done = do(project, IDEA, code=1, cwd=folder)
    assert "no_workspace" in done.stderr
    assert list(folder.iterdir()) == []


def test_without_a_terminal_nothing_is_accepted_unasked(signer):
    before = bytes_of(signer.root / "tests")
    record = as_json(signer, IDEA, code=11)
    assert (record["outcome"], record["stage"], record["ok"]) == ("proven", "review", False)
    assert [line["grade"] for line in record["requirements"]] == ["tests"]
    assert record["files"] == ["signer.py", "tests/test_repr.py"]
    assert record["outside_scope"] == {}
    assert record["cost"]["turns"] == 1
    assert bytes_of(signer.root / "tests") == before
    assert seen_by_git(signer) == [".loopwright/.gitignore", ".loopwright/config.toml"]
    assert record["next"] == f"loopwright do --continue {SLUG}"
    shown = do(signer, *record["next"].split()[2:], code=11)
    assert last_line(shown) == f"  → {record['next']}"
    assert signer.ask("next")["workflows"][0]["recommended_next_action"] == record["next"]
    accepted = as_json(signer, "--continue", "--accept-if-proven", "--branch")
    assert accepted["outcome"] == "delivered"
    assert "def __repr__" in signer.git("show", f"loopwright/{SLUG}:signer.py")


def test_work_without_a_failing_test_is_unproven_and_not_delivered(signer):
    turns(signer, {"role": "builder", "run": WORK})
    record = as_json(signer, IDEA, "--accept-if-proven", code=14)
    assert record["outcome"] == "unproven"
    assert [reason["code"] for reason in record["reasons"]] == ["unproven_requirement_REQ-1"]
    assert "__repr__" not in (signer.root / "signer.py").read_text()


def test_a_weakened_test_is_shown_and_waits_for_a_person(signer):
    lie = writes("tests/test_signer.py", "def test_key():\n    assert True\n")
    turns(signer, {"role": "builder", "run": WORK + NEW_TEST + lie})
    done = do(signer, IDEA, "--accept-if-proven", code=10)
    assert "protected: tests/test_signer.py (changed)" in done.stdout
    assert done.stdout.index("protected: tests/test_signer.py") < done.stdout.index("diff --git a/signer.py")
    assert "! outside the scope: tests/test_signer.py" in done.stdout
    assert (signer.root / "signer.py").read_text() == FILES["signer.py"]


def test_code_that_could_deceive_the_tests_is_not_accepted(signer):
    lie = 'import sys\n\nif "pytest" in sys.modules:\n    Signer.__repr__ = lambda signer: "Signer(a)"\n'
    turns(signer, {"role": "builder", "run": writes("signer.py", lie, how=">>") + NEW_TEST})
    record = as_json(signer, IDEA, "--accept-if-proven", code=10)
    assert record["flags"]
    assert (signer.root / "signer.py").read_text() == FILES["signer.py"]


def test_work_that_breaks_a_test_has_failed_and_can_go_on(signer):
    broken = {"role": "builder", "run": "echo 'Signer = None' >> signer.py"}
    turns(signer, broken)
    record = as_json(signer, IDEA, "--accept-if-proven", code=12)
    assert record["outcome"] == "failed"
    assert record["next"] == f"loopwright do --continue {SLUG}"
    turns(signer, broken, broken, {"role": "builder", "run": writes("signer.py", FILES["signer.py"]) + WORK + NEW_TEST})
    assert as_json(signer, "--continue", "--accept-if-proven")["outcome"] == "delivered"


def test_an_interrupt_loses_nothing(signer):
    marker = signer.root.parent / "works"
    turns(signer, {"role": "builder", "run": f"touch {marker}; sleep 300"}, HONEST)
    child = subprocess.Popen(
        signer.command("do", IDEA), cwd=signer.root, env=signer.environment, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not marker.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    printed, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    assert f"interrupted; nothing is lost: `loopwright do --continue {SLUG}`" in printed
    turns(signer, HONEST, HONEST)
    assert as_json(signer, "--continue", "signer", "--accept-if-proven")["outcome"] == "delivered"


def test_a_question_of_the_agent_is_shown_and_its_answer_goes_on(signer):
    question = json.dumps({"question": "Show the key?", "options": ["yes", "no"]})
    asks = {"role": "builder", "run": f"printf '%s' '{question}' > $LOOPWRIGHT_DECISIONS/q.json"}
    turns(signer, asks, {**HONEST, "expect": "yes, show it"})
    record = as_json(signer, IDEA, code=11)
    assert record["outcome"] == "question"
    assert record["question"] == {"id": "D-1", "question": "Show the key?", "options": ["yes", "no"]}
    assert "D-1: Show the key?" in do(signer, "--continue", code=11).stdout
    assert signer.run("answer", SLUG, "D-1", "yes, show it").exit_code == 0
    assert as_json(signer, "--continue", "--accept-if-proven")["outcome"] == "delivered"


def test_only_a_person_may_do_it(signer):
    for arguments in ((IDEA,), ("--continue",), (IDEA, "--accept-if-proven", "--commit")):
        done = do(signer, *arguments, code=1, env={AGENT_MARK: "1"})
        assert "INSIDE_AGENT" in done.stderr
    assert not (signer.own / "workflows").exists()
    (signer.own / "config.toml").unlink()
    signer.own.rmdir()
    do(signer, IDEA, code=1, env={AGENT_MARK: "1"})
    assert not signer.own.exists()


def test_the_long_path_refuses_what_do_derives(signer):
    do(signer, IDEA, code=11)
    for command in (("plan", SLUG, "--agent", ""), ("clarify", SLUG)):
        done = signer.run(*command, "--json")
        assert done.exit_code == 1
        record = json.loads(done.stderr.splitlines()[-1])
        assert (record["error"], record["next"]) == ("invalid_transition", f"loopwright do --continue {SLUG}")
    do(signer, "--continue", "--accept-if-proven")
    refused = json.loads(signer.run("archive", SLUG, "--json").stderr.splitlines()[-1])
    assert [found["code"] for found in refused["blockers"]] == ["no_spec_changed"]
    refused = json.loads(signer.run("do", "--continue", "--json").stderr.splitlines()[-1])
    assert (refused["error"], refused["next"]) == ("nothing_to_continue", "loopwright status")


@pytest.fixture
def terminal(signer, terminals):
    """Starts `loopwright do` in a wide terminal without colours."""

    def start(*arguments):
        return terminals(signer, "do", *arguments, env={"TERM": "dumb"}, dimensions=(60, 160), timeout=60)

    return start


def said(child):
    if not child.flag_eof:
        child.expect(pexpect.EOF)
    child.wait()
    return ESCAPES.sub("", child.before)


MENU = r"\[a\]ccept, \[c\]omment, \[b\]ranch, \[t\]ry again, \[d\]iscard, \[q\]uit"


def test_in_a_terminal_a_person_sees_the_diff_and_accepts(signer, terminal):
    child = terminal(IDEA, "--commit")
    child.expect(r"diff --git a/signer\.py")
    child.expect(MENU)
    child.sendline("a")
    child.expect(f"{SLUG}: .*delivered")
    child.expect("Commit message")
    child.sendline("Show the key of a signer")
    assert "committed" in said(child)
    assert child.exitstatus == 0
    assert signer.git("log", "-1", "--format=%s").strip() == "Show the key of a signer"


def test_a_comment_goes_back_to_the_agent(signer, terminal):
    better = "sed -i 's/Signer(\\(.*\\))/<Signer \\1>/' signer.py; sed -i 's/Signer(a)/<Signer a>/' tests/test_repr.py"
    turns(signer, HONEST, {"role": "builder", "expect": "use angle brackets", "run": better})
    child = terminal(IDEA)
    child.expect(MENU)
    child.sendline("c")
    child.expect("What should change")
    child.sendline("use angle brackets")
    child.expect("<Signer {")
    child.expect(MENU)
    child.sendline("a")
    said(child)
    assert child.exitstatus == 0
    assert "<Signer {" in (signer.root / "signer.py").read_text()


def test_a_comment_that_the_agent_does_not_carry_out_stays_in_sight(signer, terminal):
    more = writes("tests/test_signer.py", f"\n\n{TEST}", how=">>")
    turns(signer, {"role": "builder", "run": WORK + more})
    child = terminal(IDEA)
    child.expect("a person must look at it")
    child.expect(MENU)
    child.sendline("c")
    child.expect("What should change")
    child.sendline("use a new file")
    child.expect(f"{SLUG}: .*failed")
    child.expect("no turns left")
    child.expect("rejected build->review: use a new file")
    child.expect("decide later")
    child.sendline("q")
    said(child)
    assert child.exitstatus == 12
    nothing = {"role": "builder", "run": "true"}
    turns(signer, {"role": "builder", "run": WORK + more}, nothing, nothing)
    codes = [reason["code"] for reason in as_json(signer, "--continue", code=10)["reasons"]]
    assert codes == ["sealed_file_changed_tests/test_signer.py", "approval_rejected_review"]


def test_discarding_ends_it_and_trying_again_begins_anew(signer, terminal):
    child = terminal(IDEA)
    child.expect(MENU)
    child.sendline("t")
    child.expect(MENU)
    child.sendline("d")
    text = said(child)
    assert f"{SLUG}-2: discarded" in text
    assert text.splitlines()[-1] == f"  → loopwright do '{IDEA}'"
    assert child.exitstatus == 0
    assert "__repr__" not in (signer.root / "signer.py").read_text()
    assert signer.run("next").stdout.startswith("nothing waits for you")
    assert seen_by_git(signer) == [".loopwright/.gitignore", ".loopwright/config.toml"]


def test_accepting_a_changed_test_signs_it_in_the_name_of_the_person(signer, terminal):
    turns(signer, {"role": "builder", "run": WORK + writes("tests/test_signer.py", f"\n\n{TEST}", how=">>")})
    child = terminal(IDEA)
    child.expect(r"protected: tests/test_signer\.py \(changed\)")
    child.expect(MENU)
    child.sendline("a")
    child.expect("you take this in your name")
    child.expect("Accept it")
    child.sendline("n")
    child.expect(">")
    child.sendline("a")
    child.expect("Accept it")
    child.sendline("y")
    said(child)
    assert child.exitstatus == 0
    assert "test_repr" in (signer.root / "tests/test_signer.py").read_text()
    assert [line["grade"] for line in signer.ask("status", SLUG)["requirements"]] == ["person"]


def test_a_person_may_take_unproven_work_in_their_name(signer, terminal):
    turns(signer, {"role": "builder", "run": WORK})
    child = terminal(IDEA, "--branch")
    child.expect("nothing proves it")
    child.expect(MENU)
    child.sendline("a")
    child.expect("you take this in your name")
    child.expect("Accept it")
    child.sendline("y")
    assert f"the work is on the branch loopwright/{SLUG}" in said(child)
    assert child.exitstatus == 0
    assert [line["grade"] for line in signer.ask("status", SLUG)["requirements"]] == ["person"]
    assert "__repr__" not in (signer.root / "signer.py").read_text()


def test_a_person_answers_the_agent_in_the_terminal(signer, terminal):
    question = json.dumps({"question": "Show the key?", "options": ["yes", "no"]})
    asks = {"role": "builder", "run": f"printf '%s' '{question}' > $LOOPWRIGHT_DECISIONS/q.json"}
    turns(signer, asks, {**HONEST, "expect": "yes"})
    child = terminal(IDEA)
    child.expect(r"D-1: Show the key\?")
    child.expect("Your answer")
    child.sendline("yes")
    child.expect(MENU)
    child.sendline("q")
    text = said(child)
    assert child.exitstatus == 11
    assert text.splitlines()[-1] == f"  → loopwright do --continue {SLUG}"


def test_leaving_the_question_open_loses_nothing(signer, terminal):
    child = terminal(IDEA)
    child.expect(MENU)
    for _ in range(10):
        child.sendintr()  # the first may arrive just before the terminal is read
        if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=3) == 0:
            break
    text = said(child)
    assert f"nothing is lost: `loopwright do --continue {SLUG}`" in text
    assert child.exitstatus == 130
    assert as_json(signer, "--continue", code=11)["outcome"] == "proven"


def test_other_changes_of_the_user_are_never_committed(signer):
    signer.write("signer.py", FILES["signer.py"] + "\n\nNOTE = 1\n")
    signer.write("NOTES", "mine\n")
    signer.git("add", "NOTES")
    head = signer.git("rev-parse", "HEAD")
    tests = 'from signer import Signer\n\n\ndef test_repr():\n    assert repr(Signer("a")) == "Signer(a)"\n'
    work = FILES["signer.py"] + '\n    def __repr__(self):\n        return f"Signer({self.key})"\n\n\nNOTE = 1\n'
    turns(signer, {"role": "builder", "run": writes("signer.py", work) + writes("tests/test_repr.py", tests)})
    record = as_json(signer, IDEA, "--accept-if-proven", "--commit")
    assert record["commit"] is None
    assert "you had uncommitted changes when it was built" in record["not_committed"]
    assert signer.git("rev-parse", "HEAD") == head
    assert "__repr__" in (signer.root / "signer.py").read_text()


def test_a_commit_that_git_refuses_leaves_the_delivered_files(signer):
    for name in ("user.name", "user.email"):
        signer.git("config", "--unset", name)
    signer.git("config", "user.useConfigOnly", "true")
    done = do(signer, IDEA, "--accept-if-proven", "--commit")
    assert "the work is delivered, but not committed: git commit failed: " in done.stdout
    assert last_line(done) == f"  → loopwright undo {SLUG}"
    assert "__repr__" in (signer.root / "signer.py").read_text()


def test_staged_files_of_the_user_stay_out_of_the_commit(signer):
    do(signer, IDEA, code=11)
    signer.git("config", "core.hooksPath", "hooks")
    signer.write("hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    signer.write(".git/info/exclude", "hooks/\n")
    committed = as_json(signer, "--continue", "--accept-if-proven", "--commit")["commit"]
    assert signer.git("rev-parse", "HEAD").strip() == committed
    assert signer.git("show", "--name-only", "--format=").split() == ["signer.py", "tests/test_repr.py"]


def test_a_limit_of_the_cost_ends_the_work_and_a_higher_one_goes_on(signer):
    half = {"role": "builder", "run": WORK, "usd": 0.5}
    broken = {"role": "builder", "run": "echo 'Signer = None' >> signer.py", "usd": 0.5}
    turns(signer, broken)
    record = as_json(signer, IDEA, "--usd", "0.1", code=12)
    assert record["reasons"][0]["code"] == "budget_usd"
    turns(signer, broken, {**half, "run": writes("signer.py", FILES["signer.py"]) + WORK + NEW_TEST})
    assert as_json(signer, "--continue", "--usd", "5", "--accept-if-proven")["cost"]["usd"] == 1.0


def test_a_check_of_the_user_decides_and_the_tests_of_the_project_run_too(signer):
    check = "python3 -c 'from signer import Signer; assert repr(Signer(1)) == \"Signer(1)\"'"
    turns(signer, {"role": "builder", "run": WORK})
    record = as_json(signer, IDEA, "--check", check, "--accept-if-proven")
    assert [line["grade"] for line in record["requirements"]] == ["command"]
    assert record["tests"].startswith("the work breaks none of the project's tests")


def test_specs_of_openspec_and_names_that_exist_are_left_alone(signer):
    signer.write("openspec/specs/keep", "")
    signer.commit("with openspec")
    do(signer, IDEA, code=11)
    do(signer, f"{IDEA}!", "--check", "true", code=14)
    slugs = sorted(path.name for path in (signer.own / "workflows").iterdir())
    assert slugs == [SLUG, f"{SLUG}-2"]
    assert [name for name in seen_by_git(signer) if not name.startswith(".loopwright/")] == []
    assert not (signer.root / "openspec/changes").exists()
    refused = json.loads(signer.run("do", "--continue", "signer", "--json").stderr.splitlines()[-1])
    assert refused["message"] == f"'signer' is a part of several names: {SLUG}, {SLUG}-2"


def test_work_that_changed_after_it_was_shown_is_shown_again(signer, terminal):
    child = terminal(IDEA)
    child.expect(MENU)
    assert signer.run("review", SLUG, "--verdict", "request-changes", "--rationale", "not yet").exit_code == 0
    child.sendline("a")
    assert f"look again: `loopwright do --continue {SLUG}`" in said(child)
    assert child.exitstatus == 1
    assert (signer.root / "signer.py").read_text() == FILES["signer.py"]
    assert as_json(signer, "--continue", "--accept-if-proven", code=10)["reasons"][0]["message"].endswith("not yet")


def test_wrong_usage_is_refused_with_an_example(signer):
    for arguments in ((), (IDEA, "--continue", "x"), (IDEA, "--commit", "--branch"), ("…",), (" ",)):
        assert "WRONG_USAGE" in do(signer, *arguments, code=2).stderr
    assert not (signer.own / "workflows").exists()
