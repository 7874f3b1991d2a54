"""Changes to protected files: a person signs all, some or none, and only a tree that the checks saw is delivered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from tests.walks.workflow_kit import (
    BUILT,
    CHECK,
    PYTEST,
    SLICE,
    blockers,
    finish,
    ok,
    planner,
    prepare,
    refusal,
    status,
)

from loopwright.workflow import events as e
from loopwright.workflow.facts import Gates
from loopwright.workflow.store import WorkflowStore
from loopwright.workspace.layout import Flavour, Layout

# It starts in a fifth of the time of pytest, which the walk with a doctest uses.
UNITTEST = "python3 -m unittest discover -q -s tests -t ."


def case(name, *lines, head=""):
    """A file with a test."""
    body = "".join(f"        {line}\n" for line in lines)
    return f"import unittest\n\nimport hello\n{head}\n\nclass Tests(unittest.TestCase):\n    def {name}(self):\n{body}"


EXPECTS_HI = case("test_greet", "assert hello.greet('Ann') == 'hi'")
EXPECTS_NAME = "sed -i \"s/'hi'/'hello Ann'/\" tests/test_hello.py"
SETTINGS = '[project]\nsource = ["hello.py"]\n[risk]\nthreshold = 1.0\n'


CALLS = ("check.py", "import hello\nassert hello.greet('Ann') == 'hello Ann'\n")


@pytest.fixture
def built(project):
    def build(work, *, check=CHECK, tests="", files=(), settings=SETTINGS, passes=True):
        command = f'[project]\nsource = ["hello.py"]\ntest_command = "{tests}"\n[risk]\nthreshold = 1.0\n'
        slices = [{**SLICE, "checks": [{"id": "C", "command": check, "regression": check == "true"}]}]
        turns = [planner(slices=slices), {"role": "builder", "run": work}]
        prepare(project, turns, settings=command if tests else settings)
        for name, text in files:
            project.write(name, text)
        project.commit("its judges")
        if passes:
            project.at("built")
        else:
            project.at("approved")
            project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")

    return build


def deliver(project):
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")


def test_a_person_signs_some_changes_and_the_checks_run_on_exactly_that_tree(project, built):
    work = f"{BUILT}; {EXPECTS_NAME}; echo 'all:' > Makefile; echo x > more.cfg"
    built(work, tests=UNITTEST, files=[("tests/test_hello.py", EXPECTS_HI), ("tests/__init__.py", "")])
    assert sorted(blockers(project, "review")) == [
        "changed_test_tests/test_hello.py", "sealed_file_changed_Makefile", "sealed_file_changed_more.cfg"
    ]  # fmt: skip

    refused = refusal(project, "sign", "greet", "--protected", "Makefile")
    assert refused["error"] == "protected_part_fails"
    assert "test_greet" in refused["message"]
    assert refusal(project, "sign", "greet", "--protected", "other/**")["error"] == "nothing_to_sign"
    assert len(blockers(project, "review")) == 3, "nothing was signed"

    # Results of the base that are not known any more are recorded meanwhile; the work is still the same.
    project.environment["PATH"] = f"{project.root / 'no-programs'}:{project.environment['PATH']}"
    runs = set((project.own / "runs").iterdir())
    ok(project, "sign", "greet", "--protected", "tests/**", "--note", "greets by name now")
    assert blockers(project, "review") == {}
    assert set((project.own / "runs").iterdir()) > runs, "the checks ran on the new tree"
    deliver(project)
    assert "hello Ann" in (project.root / "tests" / "test_hello.py").read_text()
    assert "hello {name}" in (project.root / "hello.py").read_text()
    assert not (project.root / "Makefile").exists()
    assert not (project.root / "more.cfg").exists()
    assert status(project)["stage"] == "done"


@pytest.mark.parametrize(
    ("first", "second", "signs", "open_codes"),
    [
        ("echo all: > Makefile", "echo '# done' >> hello.py", "--protected", []),
        ("echo all: > Makefile", "echo '# done' >> hello.py", "--without-protected", []),
        ("echo all: > Makefile", "echo more: >> Makefile", "--protected", ["sealed_file_changed_Makefile"]),
    ],
    ids=["signed", "left out", "another change"],
)
def test_a_decision_about_protected_changes_is_kept_while_they_stay_the_same(project, first, second, signs, open_codes):
    turns = [planner(), {"role": "builder", "run": f"{BUILT}; {first}"}, {"role": "builder", "run": second}]
    prepare(project, turns, settings=SETTINGS)
    project.at("built")
    assert list(blockers(project, "review")) == ["sealed_file_changed_Makefile"]
    ok(project, "sign", "greet", signs, "--note", "looked at it")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet", "--verdict", "request-changes", "--rationale", "say that it is done")
    ok(project, "approve", "greet", "--from", "review", "--to", "build")
    ok(project, "build", "greet", "--agent", "scripted")
    assert list(blockers(project, "review")) == open_codes
    if not open_codes:
        deliver(project)
        assert (project.root / "Makefile").exists() is (signs == "--protected")
        assert "# done" in (project.root / "hello.py").read_text()


LEFT_OUT, KEPT = ("--without-protected",), ("--protected",)


@pytest.mark.parametrize("last", [LEFT_OUT, KEPT, ("--protected", "Makefile")], ids=["left out", "all", "some"])
def test_the_last_decision_about_protected_changes_is_delivered(project, built, last):
    built(f"{BUILT}; echo all: > Makefile; echo x > more.cfg")
    for number, decision in enumerate((KEPT, LEFT_OUT, KEPT, last)):
        ok(project, "sign", "greet", *decision, "--note", f"look {number}")
    assert blockers(project, "review") == {}
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    # A decision that changes the tree makes the approval of the tree void.
    ok(project, "sign", "greet", *(KEPT if last == LEFT_OUT else LEFT_OUT), "--note", "in review")
    ok(project, "sign", "greet", *last, "--note", "in review, too")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert (project.root / "Makefile").exists() is (last != LEFT_OUT)
    assert (project.root / "more.cfg").exists() is (last == KEPT)


def test_changes_with_which_the_checks_fail_can_only_be_left_out(project, built):
    built(f"{BUILT}; echo 'raise SystemExit(1)' > check.py", check="python3 check.py", files=[CALLS])
    way = blockers(project, "review")["sealed_file_changed_check.py"]["next"]
    assert "--without-protected" in way
    refused = refusal(project, "sign", "greet", "--protected")
    assert refused["error"] == "protected_part_fails"
    ok(project, "sign", "greet", "--without-protected", "--note", "not needed")
    deliver(project)
    assert "SystemExit" not in (project.root / "check.py").read_text()


PACKAGES = """{{"lockfileVersion": 3, "packages": {{"node_modules/mocha": {{
  "version": "{0}", "resolved": "https://{1}/mocha/-/mocha-{0}.tgz", "integrity": "sha512-AAAA"
}}}}}}
"""


@pytest.mark.parametrize(
    ("registry", "codes"),
    [("registry.npmjs.org", []), ("npm.example.org", ["sealed_file_changed_package-lock.json"])],
)
def test_a_lock_file_with_a_new_registry_needs_a_person(project, built, registry, codes):
    bump = "sed -i 's/9.0.0/9.2.2/' package.json package-lock.json"
    move = f"sed -i 's/registry.npmjs.org/{registry}/; s/-9.0.0.tgz/-9.2.2.tgz/' package-lock.json"
    manifest = '{"devDependencies": {"mocha": "9.0.0"}}\n'
    files = [("package.json", manifest), ("package-lock.json", PACKAGES.format("9.0.0", "registry.npmjs.org"))]
    built(f"{BUILT}; {bump}; {move}", files=files)
    assert list(blockers(project, "review")) == codes


FLAT = f"{BUILT}; echo 'WORD = 1' > words.py"


def test_files_that_a_plan_asks_for_are_shown_bound_to_the_approval_and_approved_by_a_person_only(project):
    prepare(project, [planner(scope_wanted=["words.py"]), {"role": "builder", "run": FLAT}], settings=SETTINGS)
    said = project.at("planned").stdout
    assert "the work may change words.py, which is protected or outside project.source" in said
    assert status(project)["scope"] == {"planned": ["words.py"], "wanted": ["words.py"]}
    policy = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert "scope_wanted_words.py" in {one["code"] for one in policy["blockers"]}
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    path = next(project.own.rglob("slices.json"))
    approved = path.read_text()
    path.write_text(approved.replace('"words.py"', '"words.py", "Makefile"'))
    assert "approval_void_build" in {
        one["code"] for one in refusal(project, "build", "greet", "--agent", "scripted")["blockers"]
    }
    path.write_text(approved)
    ok(project, "build", "greet", "--agent", "scripted")
    assert blockers(project, "review") == {}, "no command more than without the file"
    deliver(project)
    assert (project.root / "words.py").is_file()


ASKS = (
    'mkdir -p $LOOPWRIGHT_DECISIONS; echo \'{"question": "A task needs a target.", "scope_wanted": ["Makefile"]}\' '
    "> $LOOPWRIGHT_DECISIONS/one.json"
)
MAKES = f"{BUILT}; echo 'all:' > Makefile"


@pytest.mark.parametrize(("answer", "codes"), [("yes", []), ("no", ["sealed_file_changed_Makefile"])])
def test_a_builder_asks_for_files_outside_its_scope_and_a_person_answers(project, answer, codes):
    turns = [planner(), {"role": "builder", "run": ASKS}, {"role": "builder", "run": MAKES}]
    prepare(project, turns, settings=SETTINGS)
    project.at("approved")
    assert project.run("build", "greet", "--agent", "scripted").exit_code == 11
    asked = blockers(project, "review")["decision_required_D-1"]
    assert "May the work change Makefile?" in asked["message"]
    ok(project, "answer", "greet", "D-1", answer)
    ok(project, "build", "greet", "--agent", "scripted")
    assert list(blockers(project, "review")) == codes


def test_evidence_names_what_a_person_allowed_and_the_scripts_that_decide(project):
    slices = [{**SLICE, "checks": [{"id": "C", "command": "sh verify.sh"}]}]
    turns = [planner(slices=slices, scope_wanted=["words.py"]), {"role": "builder", "run": FLAT}]
    prepare(project, turns, settings=SETTINGS)
    project.write("verify.sh", f"{CHECK}\n")
    project.commit("a script")
    project.at("built")
    scopes = [project.evidence(path.name).get("scope") for path in (project.own / "runs").iterdir()]
    judged = [(scope["granted"], scope["scripts"], scope["protect"]) for scope in scopes if scope is not None]
    assert judged
    assert set(map(str, judged)) == {str((["words.py"], ["verify.sh"], []))}


def test_a_loop_takes_the_answer_of_a_person_for_files_outside_its_scope(project):
    settings = f'[project]\nsource = ["hello.py"]\ntest_command = "{UNITTEST}"\n'
    turns = [{"role": "builder", "run": ASKS}, {"role": "builder", "run": MAKES}]
    prepare(project, turns, settings=settings)
    for name, text in FILES[::2]:
        project.write(name, text)
    project.commit("its test")
    loop_id = ok(project, "loop", "new", "greet by name", "--agent", "scripted", "--task", "greet", "--json").json()[
        "loop_id"
    ]
    assert project.run("loop", "start", loop_id).exit_code == 11
    ok(project, "loop", "answer", loop_id, "D-1", "Yes")
    done = project.run("loop", "resume", loop_id)
    assert done.exit_code == 0, done.stdout + done.stderr


FILES = (
    ("tests/test_hello.py", case("test_greet", "assert hello.greet('Ann') == 'hello Ann'")),
    ("tests/test_other.py", case("test_callable", "assert callable(hello.greet)")),
    ("tests/__init__.py", ""),
)


def test_a_test_that_moved_or_got_another_name_is_the_same_test(project, built):
    moves = "git mv tests/test_hello.py tests/test_greeting.py"
    renames = "sed -i s/test_callable/test_is_callable/ tests/test_other.py"
    built(f"{BUILT}; {moves}; {renames}", check=UNITTEST, tests=UNITTEST, files=FILES)
    assert blockers(project, "review") == {}, "no signature is needed"
    proof = status(project)["requirements"][0]["proof"]
    assert "1 test failed before and passes now; 1 of 1 earlier test still passes" in proof
    deliver(project)
    assert (project.root / "tests" / "test_greeting.py").is_file()
    assert not (project.root / "tests" / "test_hello.py").exists()


def test_a_test_that_moved_to_where_no_runner_finds_it_is_missing(project, built):
    built(f"{BUILT}; git mv tests/test_other.py tests/other.py", tests=UNITTEST, files=FILES, passes=False)
    assert "tests_broken_1" in blockers(project, "review")


def test_a_changed_doctest_is_a_changed_test(project, built):
    hello = 'def greet(name):\n    """Greet.\n\n    >>> greet("Zoe")\n    \'hi\'\n    """\n    return "hi"\n'
    work = "sed -i \"s/return .*/return f'hello {name}'/; s/^    'hi'/    'hello Zoe'/\" hello.py"
    runs_examples = f"{PYTEST} --doctest-modules"
    built(work, check=CHECK, tests=runs_examples, files=[*FILES[1:], ("hello.py", hello)])
    assert list(blockers(project, "review")) == ["changed_test_hello.py"]
    (requirement,) = status(project)["requirements"]
    assert requirement["proof"] == "only with changed tests, which a person must sign: hello.py"
    assert status(project)["cost"]["verified_requirements"] == 0
    assert "stands for your own words" in project.run("sign", "greet", "--protected", "--note", "…").stderr
    ok(project, "sign", "greet", "--protected", "--note", "as the spec says")
    assert blockers(project, "review") == {}
    (requirement,) = status(project)["requirements"]
    assert requirement["grade"] == "person"
    assert "signed the changed tests hello.py; with them, " in requirement["proof"]
    assert status(project)["cost"]["verified_requirements"] == 1


def test_a_document_that_decides_a_test_is_a_changed_test(project, built):
    reads = case("test_manual", "with open('USAGE.md') as manual:", "    assert hello.greet('Zoe') in manual.read()")
    files = [*FILES, ("tests/test_manual.py", reads), ("USAGE.md", "greet prints hi\n")]
    built(f"{BUILT}; echo 'greet prints hello Zoe' > USAGE.md; echo more > NOTES.md", tests=UNITTEST, files=files)
    assert list(blockers(project, "review")) == ["changed_test_NOTES.md", "changed_test_USAGE.md"]
    refused = refusal(project, "sign", "greet", "--protected", "NOTES.md")
    assert refused["error"] == "protected_part_fails"
    ok(project, "sign", "greet", "--protected", "USAGE.md", "--note", "as the spec says")
    assert blockers(project, "review") == {}
    deliver(project)
    assert "hello Zoe" in (project.root / "USAGE.md").read_text()
    assert not (project.root / "NOTES.md").exists()


def test_a_tree_on_which_its_check_failed_is_not_delivered(project, built, tmp_path):
    breaks = case("test_new", "assert hello.greet('Ann') == 'hello Ann'", head="\nhello.other = None\n")
    other = case("test_other", "assert hello.other is not None")
    (tmp_path / "new.py").write_text(breaks)
    work = f"{BUILT}; echo 'other = 1' >> hello.py; cp {tmp_path / 'new.py'} tests/test_a.py; echo all: > Makefile"
    files = [*FILES, ("tests/test_other.py", other), ("hello.py", "other = 1\n\n\ndef greet(name):\n    return 'hi'\n")]
    built(work, check=UNITTEST, files=files, passes=False)
    assert "verification_failed" in blockers(project, "review")


def test_a_file_that_the_checks_change_on_the_base_too_needs_no_signature(project, built):
    logs = case("test_log", "with open('log.txt', 'a') as log:", "    log.write('x')")
    built(BUILT, check=UNITTEST, files=[*FILES, ("tests/test_log.py", logs), ("log.txt", "")])
    assert blockers(project, "review") == {}


VERIFIES = "from app.hello import greet\nassert greet('Ann') == 'hello Ann'\n"


@pytest.mark.parametrize(
    ("named", "files"),
    [
        ("app/verify.py", {"Makefile": "test:\n\tPYTHONPATH=. python3 app/verify.py\n", "app/verify.py": VERIFIES}),
        ("app/verify.sh", {"Makefile": "test:\n\tsh app/verify.sh\n", "app/verify.sh": "exit 1\n"}),
        ("loose/yaml.py", {"Makefile": "test:\n\tfalse\n"}),
    ],
    ids=["script behind make", "shell script behind make", "name of an installed module"],
)
def test_no_policy_approves_a_protected_file_that_the_plan_names(project, named, files):
    slices = [{**SLICE, "checks": [{"id": "C", "command": "make -s test"}]}]
    settings = '[project]\nsource = ["app/**", "loose/**"]\n'
    prepare(project, [planner(slices=slices, scope=["app/hello.py", named])], settings=settings)
    for name, text in {"app/__init__.py": "", "app/hello.py": "", "app/more.py": "", **files}.items():
        project.write(name, text)
    project.write(".venv/bin/python", "")
    project.write(".venv/lib/python3.11/site-packages/yaml/__init__.py", "")
    project.commit("a project")
    project.at("planned")
    assert status(project)["scope"]["wanted"] == [named]
    policy = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert f"scope_wanted_{named}" in {one["code"] for one in policy["blockers"]}


def test_no_policy_approves_the_script_of_the_test_command_if_the_plan_names_it(project):
    settings = '[project]\nsource = ["*.py"]\ntest_command = "python3 verify.py"\n'
    prepare(project, [planner(scope=["hello.py", "verify.py"])], settings=settings)
    project.write("verify.py", "import hello\n")
    project.commit("a script")
    project.at("planned")
    assert status(project)["scope"]["wanted"] == ["verify.py"]


def test_nothing_is_delivered_if_a_person_leaves_out_all_that_the_work_changed(project, built):
    built("echo all: > Makefile", check="true", settings=SETTINGS)
    ok(project, "sign", "greet", "REQ-1", "--note", "looks right")
    assert list(blockers(project, "review")) == ["sealed_file_changed_Makefile"]
    ok(project, "sign", "greet", "--without-protected", "--note", "no")
    assert list(blockers(project, "review")) == ["nothing_changed"]
    assert refusal(project, "approve", "greet", "--from", "build", "--to", "review")["error"]


def test_protected_changes_alone_are_delivered_if_a_person_signs_them(project, built):
    built("echo all: > Makefile", check="true", settings=SETTINGS)
    ok(project, "sign", "greet", "--protected", "--note", "yes")
    ok(project, "sign", "greet", "REQ-1", "--note", "looks right")
    deliver(project)
    assert (project.root / "Makefile").is_file()


def test_old_work_with_an_empty_patch_is_not_delivered(project, built):
    built("echo all: > Makefile", check="true", settings=SETTINGS)
    ok(project, "sign", "greet", "--without-protected", "--note", "no")
    layout = Layout(project.root, Flavour.UNIFIED, project.home)
    with WorkflowStore(layout, lambda: datetime.now(UTC), Gates()).changing("greet") as opened:
        before = replace(opened.workflow.verification, is_empty=False)
        opened.apply(e.WorkVerified(verification=before), "tool")
    ok(project, "sign", "greet", "REQ-1", "--note", "looks right")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    refused = refusal(project, "approve", "greet", "--from", "review", "--to", "done")
    assert refused["error"] == "delivery_blocked"


def test_an_empty_patch_that_was_delivered_is_not_archived(project, built):
    built("echo all: > Makefile", check="true", settings=SETTINGS)
    ok(project, "sign", "greet", "--without-protected", "--note", "no")
    finish(project, work="true")
    assert "nothing_changed" in {one["code"] for one in refusal(project, "archive", "greet")["blockers"]}


@pytest.mark.parametrize(
    ("name", "text", "change"),
    [
        ("pyproject.toml", '[project]\nname = "x"\nversion = "1"\ndependencies = []\n', "s/\\[\\]/[\"attrs\"]/"),
        ("package.json", '{"devDependencies": {}}\n', "s/{}/{\"mocha\": \"9.0.0\"}/"),
    ],
    ids=["pyproject", "package.json"],
)  # fmt: skip
def test_the_first_dependency_in_an_empty_list_needs_no_signature(project, built, name, text, change):
    built(f"{BUILT}; sed -i '{change}' {name}", files=[(name, text)])
    assert blockers(project, "review") == {}
