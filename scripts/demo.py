"""The main features end to end, on a sample project. Every line that starts with $ is a command you could type."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from demo_workflow import demonstrate_workflow

_FILES = {
    "total.sh": """#!/bin/sh
# Adds up the prices on standard input, one per line.
sum=0
while read -r price; do sum=$((sum + price)); done
echo "$sum"
""",
    "test.sh": """#!/bin/sh
# The project's tests.
check() {
  got=$(printf "$1" | sh total.sh)
  if [ "$got" = "$2" ]; then echo "ok: $3"; else echo "test failed: $3: expected $2, got $got"; exit 1; fi
}
check '1\\n2\\n' 3 'adds up'
check '' 0 'nothing is zero'
check '5\\n\\n5\\n' 10 'an empty line is skipped'
check '7\\n8' 15 'the last line needs no newline'
""",
}

_PLAN = """new_plan:
  unified_goal: "total.sh also takes a last line without a newline"
  run_id: demo
  steps:
    - id: P-1
      action: "the scripts are well formed"
      commands: ["sh -n total.sh", "sh -n test.sh"]
    - id: P-2
      action: "read the last line too"
      depends_on: [P-1]
      commands: ["sed -i 's/while read -r price;/while read price;/' total.sh"]
    - id: P-3
      action: "the tests pass"
      depends_on: [P-2]
      commands: ["sh test.sh"]
      verification: ["the code is easy to read", {stdout_contains: "ok: the last line needs no newline"}]
    - id: P-4
      action: "note the change"
      depends_on: [P-3]
      commands: ["echo '- takes a last line without a newline' >> CHANGES"]
"""

_BETTER = _PLAN.replace("  run_id: demo\n", "").replace(
    "while read price;", 'while read -r price || [ -n \\"$price\\" ];'
)
_TURNS = 'turns:\n  - role: replanner\n    expect: "needs: REPLAN"\n    answer: |\n' + "".join(
    f"      {line}\n" for line in _BETTER.splitlines()
)


_CAUSE = {
    "description": "the loop doubles every price",
    "testable_condition": "grep -q 'price + price' total.sh && echo DOUBLED || echo single",
    "logging_point": "total.sh, line 4",
    "evidence_criteria": {"confirm": "DOUBLED", "reject": "single"},
    "fix": "add each price once",
}
_OTHER = {**_CAUSE, "description": "the tests are not started at all", "testable_condition": "echo single"}
_LOOP_TURNS = {
    "turns": [
        {"role": "planner", "answer": json.dumps({"tasks": [{"description": "take a last line without a newline"}]})},
        {
            "role": "builder",
            "run": 'sed -i \'s/while read -r price;/while read -r price || [ -n "$price" ];/; '
            "s/sum + price/sum + price + price/' total.sh",
            "answer": "All done, all tests pass!",
        },
        {"role": "debugger", "answer": json.dumps({"hypotheses": [_OTHER, {**_CAUSE, "likelihood": 2}]})},
        {"role": "builder", "expect": "H2", "run": "sed -i 's/ + price + price/ + price/' total.sh"},
    ]
}


class Demo:
    """A sample project and the commands typed in it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "sample"
        self.project.mkdir()
        self._env = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "LOOPWRIGHT_SANDBOX_ROOT": str(folder / "sandboxes"),
        }

    def narrate(self, text: str) -> None:
        """Print a sentence about what comes next."""
        print(f"\n\033[1m# {text}\033[0m" if sys.stdout.isatty() else f"\n# {text}", flush=True)

    def type(self, *arguments: str, expect: int = 0) -> None:
        """Run a `loopwright` command in the project, and check its exit code."""
        print("$ loopwright " + " ".join(arguments), flush=True)
        argv = [sys.executable, "-m", "loopwright.cli.main", *arguments]
        done = subprocess.run(argv, cwd=self.project, env=self._env, check=False)
        if done.returncode != expect:
            sys.exit(f"demo: expected exit code {expect}, got {done.returncode}")

    def git(self, *arguments: str) -> None:
        """Run git in the project."""
        identity = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=self.project, env=self._env, check=True)

    def show(self, path: Path, lines: int = 40) -> None:
        """Print a file."""
        print(f"$ cat {path.relative_to(self.project)}")
        for line in path.read_text(encoding="utf-8").splitlines()[:lines]:
            print(f"    {line}")
        sys.stdout.flush()


def _demonstrate_loop(demo: Demo, newest: Path) -> str:
    """The second part: risk, a reflection, and a loop; return the loop's id."""
    own = demo.project / ".loopwright"
    demo.narrate("How risky is a change, judged by its paths and size? This change is small.")
    demo.git("apply", str(newest / "changes.patch"))
    demo.type("risk")
    demo.narrate(
        "A reflection records what an agent knows that the diff does not show. Agents leave reflections by a hook."
    )
    demo.type("reflect", "--confidence", "0.8", "--known", "only tried with dash and bash")
    demo.git("checkout", "-q", ".")
    demo.git("clean", "-q", "-f", "CHANGES")

    demo.narrate("The same goal as a loop. The scripted agent writes a bug and claims success, but the tests fail.")
    (own / "turns.yaml").write_text(json.dumps(_LOOP_TURNS), encoding="utf-8")
    with (own / "config.toml").open("a", encoding="utf-8") as config:
        config.write('\n[agents]\ndefault = "scripted"\n\n[agents.scripted]\nturns = ".loopwright/turns.yaml"\n')
    config_text = (own / "config.toml").read_text(encoding="utf-8")
    (own / "config.toml").write_text(
        config_text.replace('test_command = ""', 'test_command = "sh test.sh"'), encoding="utf-8"
    )
    demo.type(
        "loop", "new", "total.sh takes a last line without a newline", "--description", "the tests say when it does"
    )
    loop_id = next((own / "loops").glob("*.events.ndjson")).name.removesuffix(".events.ndjson")
    demo.type("loop", "start", loop_id)
    demo.narrate("Validation failed, debugging confirmed the cause, and the fix passed. These runs are evidence, too:")
    demo.type("verify")
    demo.narrate("Keep the loop's work: now all of the project's tests pass.")
    demo.git("apply", str(own / "loops" / f"{loop_id}.progress" / "changes.patch"))
    demo.git("commit", "-q", "-a", "-m", "Take a last line without a newline")
    return loop_id


def main() -> None:
    """Run the demo."""
    folder = Path(tempfile.mkdtemp(prefix="loopwright-demo-"))
    demo = Demo(folder)
    own = demo.project / ".loopwright"

    demo.narrate("A small project: a script that adds up prices, and its tests. One test fails.")
    for name, text in _FILES.items():
        (demo.project / name).write_text(text, encoding="utf-8")
    demo.git("init", "-q")
    demo.git("add", "-A")
    demo.git("commit", "-q", "-m", "a script and its tests")
    demo.type("init")
    (own / "plan.latest.yaml").write_text(_PLAN, encoding="utf-8")

    demo.narrate("A plan with four steps. The second step is wrong, so the run fails.")
    demo.type("run", expect=1)
    demo.narrate("The failed run leaves a blocker card for the next plan.")
    demo.show(own / "blocker.latest.yaml")

    demo.narrate("After a failure nothing runs until a person has looked at it.")
    demo.type("run", expect=1)
    demo.type("unlatch")

    demo.narrate("Now an agent writes a better plan. (This agent is scripted: no model, no network, no cost.)")
    (folder / "turns.yaml").write_text(_TURNS, encoding="utf-8")
    demo.type("run", "--replan-with", f"scripted:{folder / 'turns.yaml'}")

    demo.narrate("All checks passed. Your checkout is unchanged; the change is a patch:")
    newest = max((own / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    demo.show(newest / "changes.patch")

    demo.narrate("You can verify the evidence and repeat the run:")
    demo.type("verify")
    demo.type("rerun", newest.name)

    loop_id = _demonstrate_loop(demo, newest)
    demonstrate_workflow(demo)

    demo.narrate("Where to look:")
    print(f"  the project          {demo.project}")
    print(f"  the last run         {newest}/summary.md, evidence.json, logs/")
    print(f"  the first change     {newest}/changes.patch")
    print(f"  what the agent said  {own}/turns/")
    print(f"  the workflow         {own}/workflows/count/, plans/, changes/archive/ and specs/")
    print(f"  the loop             {own}/loops/{loop_id}.json, .events.ndjson and .progress/")
    print(f"\nRemove everything with: rm -r {folder}")


if __name__ == "__main__":
    main()
