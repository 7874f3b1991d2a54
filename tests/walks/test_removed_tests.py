"""A person can accept a renamed or deleted test in every runner, and is told its name first."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from tests.walks.workflow_kit import SLICE, blockers, ok, planner, prepare, refusal

GO_TEST = """package x

import "testing"

func TestGreet(t *testing.T) {
	if Greet("Ann") != "hello Ann" {
		t.Fatal("wrong")
	}
}

func TestBye(t *testing.T) {
	for _, name := range []string{"Bob"} {
		t.Run("case "+name, func(t *testing.T) {
			if Bye(name) != "bye Bob" {
				t.Fatal("wrong")
			}
		})
	}
}
"""
GO = {
    "go.mod": "module x\n\ngo 1.19\n",
    "hello.go": 'package x\n\nfunc Greet(n string) string { return "hi" }\n\n'
    'func Bye(n string) string { return "bye " + n }\n',
    "hello_test.go": GO_TEST,
}
GO_GREETS = 'sed -i \'s/"hi"/"hello " + n/\' hello.go'
# As maven, gradle, rspec and ctest: the command itself writes JUnit XML, and names no file.
JUNIT_RUNNER = """import pathlib, sys

product = pathlib.Path("src/calc.py").read_text()
cases = ""
for line in pathlib.Path("spec/calc_spec.txt").read_text().splitlines():
    name, word = line.split(" wants ")
    failure = "" if word in product else "<failure/>"
    cases += f'<testcase classname="com.x.Calc" name="{name}">{failure}</testcase>'
out = pathlib.Path("build/test-results/test")
out.mkdir(parents=True, exist_ok=True)
(out / "TEST-com.x.Calc.xml").write_text(f'<testsuite name="com.x.Calc">{cases}</testsuite>')
sys.exit("<failure" in cases)
"""
JUNIT = {
    "run.py": JUNIT_RUNNER,
    "src/calc.py": "WORDS = 'hi'\n",
    "spec/calc_spec.txt": "greets wants hello\nkeeps wants hi\n",
    ".gitignore": ".loopwright/\nbuild/\n",
}
CARGO = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n',
    "src/lib.rs": 'pub fn greet(_: &str) -> String { "hi".into() }\n'
    'pub fn bye(n: &str) -> String { format!("bye {n}") }\n',
    "tests/it.rs": '#[test]\nfn greets() { assert_eq!(x::greet("Ann"), "hello Ann"); }\n\n'
    '#[test]\nfn byes() { assert_eq!(x::bye("Bob"), "bye Bob"); }\n',
    ".gitignore": ".loopwright/\ntarget/\n",
}


def settings(source, command):
    tests = '["**/*_test.go", "spec/**", "tests/**"]'
    return f'[project]\nsource = ["{source}"]\ntests = {tests}\ntest_command = "{command}"\n'


def toolchain():
    """The folder of cargo itself: the program of rustup looks for it in the home. Empty without a toolchain."""
    if shutil.which("rustc") is None:
        return ""
    found = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False)
    return f"{found.stdout.strip()}/bin" if found.returncode == 0 else ""


@pytest.mark.parametrize(
    ("tool", "files", "config", "work", "said"),
    [
        pytest.param(
            "go", GO, settings("*.go", "go test ./..."), f"{GO_GREETS}; sed -i 's/\"case \"/\"to \"/' hello_test.go",
            "TestBye/case_Bob", id="go",
        ),
        pytest.param(
            "python3", JUNIT, settings("src/calc.py", "python3 run.py"),
            "echo \"MORE = 'hello'\" >> src/calc.py; sed -i s/keeps/remains/ spec/calc_spec.txt",
            "tests that are missing with the changes of tests: com.x.Calc::keeps; "
            "tests that only these changes have: com.x.Calc::remains", id="junit",
        ),
        pytest.param(
            "cargo", CARGO, settings("src/**", "PATH={rust}:$PATH cargo test --offline"),
            "sed -i 's/_: &str/n: \\&str/; s/\"hi\".into()/format!(\"hello {n}\")/' src/lib.rs; "
            "sed -i 's/fn byes/fn says_bye/' tests/it.rs",
            "tests that are missing with the changes of tests: byes; tests that only these changes have: says_bye",
            id="cargo",
        ),
    ],
)  # fmt: skip
def test_a_loop_names_a_renamed_test_and_a_person_accepts_it(project, tool, files, config, work, said):
    rust = toolchain() if tool == "cargo" else "unused"
    if shutil.which(tool, path=project.environment["PATH"]) is None or not rust:
        pytest.skip(f"this machine has no {tool}")
    prepare(project, [{"role": "builder", "run": work}], settings=config.replace("{rust}", rust))
    for name, text in files.items():
        project.write(name, text)
    project.commit("tests")
    made = ok(project, "loop", "new", "greet", "--agent", "scripted", "--task", "greet", "--json").json()
    done = project.run("loop", "start", made["loop_id"])
    assert done.exit_code == 14, done.stdout
    assert said in " ".join(done.stdout.split())
    assert "fail with them" not in done.stdout
    ok(project, "loop", "accept", made["loop_id"], "--reason", "the new name is right")


OBSOLETE = f"{GO_GREETS}; sed -i '/^func Bye/d' hello.go; sed -i '/^func TestBye/,$d' hello_test.go"


@pytest.mark.needs("go")
def test_one_signature_accepts_an_obsolete_function_of_go_that_was_deleted_with_its_test(project):
    slices = [{**SLICE, "checks": [{"id": "C", "command": "go test -run Greet ./..."}]}]
    config = settings("*.go", "go test ./...")
    prepare(project, [planner(slices=slices), {"role": "builder", "run": OBSOLETE}], settings=config)
    for name, text in GO.items():
        project.write(name, text)
    project.commit("tests")
    project.at("built")
    assert list(blockers(project, "review")) == ["changed_test_hello_test.go"]
    said = blockers(project, "review")["changed_test_hello_test.go"]["message"]
    assert "TestBye" in said
    ok(project, "sign", "greet", "--protected", "--note", "obsolete")
    assert blockers(project, "review") == {}
    assert "2 tests were deleted" in project.run("status", "greet").stdout


def test_a_test_that_is_missing_because_the_source_changed_is_broken(project):
    reads = JUNIT_RUNNER.replace("cases = ", "keeps = 'EXTRA' in product\ncases = ").replace(
        "    name, word =", "    if 'keeps' in line and not keeps:\n        continue\n    name, word ="
    )
    files = {**JUNIT, "run.py": reads, "src/calc.py": "WORDS = 'hi'\nEXTRA = 1\n"}
    work = (
        "echo \"MORE = 'hello'\" >> src/calc.py; sed -i /EXTRA/d src/calc.py; sed -i s/greets/hails/ spec/calc_spec.txt"
    )
    slices = [{**SLICE, "checks": [{"id": "C", "command": "grep -q hello src/calc.py"}]}]
    config = settings("src/**", "python3 run.py")
    prepare(project, [planner(slices=slices), {"role": "builder", "run": work}], settings=config)
    for name, text in files.items():
        project.write(name, text)
    project.commit("tests")
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    assert "tests_broken_1" in blockers(project, "review")
    assert refusal(project, "sign", "greet", "--protected")["error"] == "protected_part_fails"
