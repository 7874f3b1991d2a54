"""The benches of redaction read the examples of other tools from a clone, and the logs of this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.redaction.examples import expand

BENCH = Path(__file__).resolve().parents[2] / "bench" / "redaction"
TOKEN, OTHER = expand("ghp_<alnum:36>", 31), expand("ghp_<alnum:36>", 32)
GO = f"""package any
var (
    valid = "{TOKEN}"  // input: "a comment"
    cut = `{TOKEN[:20]}`
)
func Test(t *testing.T) {{
    tests := []struct{{ name, input string; want []string }}{{
        {{ name: "a", input: fmt.Sprintf("%s token = '%s'", keyword, valid), want: []string{{valid}} }},
        {{ name: "b", input: "key: " + valid, want: []string{{valid}} }},
        {{ name: "c", input: fmt.Sprintf("%d%% key = '%s'", "5", cut), want: nil }},
    }}
}}
"""
RULES = f"""rules:
- id: np.any.1
  examples: ["token = {TOKEN}", "nothing known"]
  negative_examples: ["token = {OTHER}", "token = none"]
- id: np.any.2
  examples: ["token = {OTHER}"]
"""
FILES = {
    "noseyparker": ("crates/noseyparker/data/default/builtin/rules/any.yml", RULES),
    "trufflehog": ("pkg/detectors/any/any_test.go", GO),
    "gitleaks": (
        "cmd/generate/config/rules/any.go",
        f'tps := []string{{ "k = {TOKEN}", generated(1) }}\nfps := map[string]string{{ "a.go": `k = x` }}',
    ),
}
# Examples, hidden, share, counter-examples, hit, share, also an example, unreadable.
ROWS = {
    "noseyparker": "3 | 2 | 66.7% | 2 | 1 | 50.0% | 1 | 0",
    "trufflehog": "1 | 1 | 100.0% | 1 | 0 | 0.0% | 0 | 1",
    "gitleaks": "1 | 1 | 100.0% | 1 | 0 | 0.0% | 0 | 1",
}


def git(folder, *arguments):
    author = ("-c", "user.name=me", "-c", "user.email=me@host.example", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", folder, *author, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clone") / "tools"
    for name, text in FILES.values():
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    git(folder.parent, "init", "-q", folder)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Add examples")
    return folder


def bench(name, *arguments):
    return subprocess.run([sys.executable, BENCH / name, *arguments], capture_output=True, text=True, check=False)


def test_examples_of_other_tools_are_counted_from_a_clone_and_from_its_git_directory(clone):
    done = bench("other_tools.py", "--list", *(part for tool in FILES for part in (f"--{tool}", str(clone / ".git"))))
    assert done.returncode == 0, done.stderr
    commit = git(clone, "log", "-1", "--format=%H %cs").split()
    for tool, row in ROWS.items():
        assert f"| {tool} | {commit[0][:12]}, {commit[1]} | {row} |" in done.stdout
    assert "noseyparker hit: np.any.1[0]: github-personal-token" in done.stdout
    assert "noseyparker not hidden: np.any.1[1]" in done.stdout
    assert TOKEN not in done.stdout
    assert OTHER not in done.stdout


def test_without_a_clone_the_bench_says_what_it_needs():
    done = bench("other_tools.py")
    assert done.returncode == 2
    assert "--noseyparker" in done.stderr


def test_kept_logs_and_trees_are_read_and_no_value_is_printed(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "build.log").write_text(f"ok\n{TOKEN}\n")
    (tmp_path / "trees" / "app 0123456789ab").mkdir(parents=True)
    (tmp_path / "trees" / "app 0123456789ab" / "main.c").write_text("int main;\n")
    done = bench("ordinary.py", "--keep", str(tmp_path), "--only-kept")
    assert done.returncode == 0, done.stderr
    assert "| logs | 1 | 0.0 | 2 | 1 |" in done.stdout
    assert "| tree app 0123456789ab | 1 | 0.0 | 1 | 0 |" in done.stdout
    assert "github-personal-token logs/build.log:2" in done.stdout
    assert TOKEN not in done.stdout
