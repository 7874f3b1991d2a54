"""`loopwright selftest`: run a tiny plan in a temporary project, to check that Loopwright works on this machine."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.exit_codes import ExitCode
from loopwright.kernel import git, process
from loopwright.kernel.process import Cancellation
from loopwright.runner.events import ignore
from loopwright.runner.latch import clear_latch, read_latch
from loopwright.stages.context import Context
from loopwright.verbs.run import RunOptions, RunReport, run
from loopwright.verbs.verify import rerun, verify
from loopwright.workspace.layout import Flavour, Layout
from loopwright.workspace.settings import Settings
from loopwright.workspace.settings_model import SandboxSettings, Values

_PASSING = """new_plan:
  unified_goal: selftest
  run_id: selftest
  steps:
    - {id: A, action: write, commands: ["echo made > made.txt"], verification: [{file_exists: made.txt}]}
    - {id: B, action: read, depends_on: [A], commands: ["cat made.txt"], verification: [{stdout_contains: made}]}
"""
_FAILING = "new_plan: {unified_goal: fail, steps: [{id: F, action: fail, commands: ['exit 7']}]}\n"
_ESCAPING = "new_plan: {unified_goal: out, steps: [{id: E, action: out, cwd: ../.., commands: ['true']}]}\n"
_LEAKING = """new_plan:
  unified_goal: leak
  steps: [{id: L, action: leak, env: [SELFTEST_TOKEN], commands: ["echo $SELFTEST_TOKEN"]}]
"""
_MODES = ("worktree", "copy")
_LEVELS = ("none", "auto", "strict")
_TOKEN = "SELFTEST_TOKEN"  # noqa: S105 -- the name of a made-up variable


class Tested(msgspec.Struct, frozen=True):
    """The result of one check."""

    what: str
    passed: bool
    message: str = msgspec.field(name="said")


def selftest(context: Context) -> Iterator[Tested]:
    """All checks, each as soon as it is done."""
    with tempfile.TemporaryDirectory(prefix="loopwright-selftest-") as folder:
        trial = _Trial(context, Path(folder))
        yield from trial.modes()
        yield from trial.isolation()
        yield from trial.failure_latches()
        yield from trial.exit_codes()
        yield from trial.chain()
        yield from trial.environment()


class _Trial:
    """A temporary project and the runs in it."""

    def __init__(self, context: Context, folder: Path) -> None:
        self._secret = os.urandom(16).hex()
        project = folder / "project"
        project.mkdir()
        (project / "README").write_text("selftest\n")
        self._context = msgspec.structs.replace(
            context,
            layout=Layout(project, Flavour.UNIFIED, folder),
            environment={**context.environment, _TOKEN: self._secret},
            settings=Settings(Values(sandbox=SandboxSettings(root=context.settings.values.sandbox.root)), {}),
        )
        self._has_git = git.is_installed()
        if self._has_git:
            self._commit(project)

    def modes(self) -> Iterator[Tested]:
        for mode in _MODES:
            if mode == "worktree" and not self._has_git:
                yield Tested("worktree mode", True, "skipped: git is not installed")
                continue
            report = self._run(_PASSING, mode=mode)
            yield self._expect(f"{mode} mode", report, lambda r: r.failure is None)

    def isolation(self) -> Iterator[Tested]:
        for level in _LEVELS:
            report = self._run(_PASSING, isolation=level)
            if isinstance(report, RunReport) and report.failure and report.failure.code == "ISOLATION_UNAVAILABLE":
                yield Tested(f"isolation {level}", True, "refused, as required: this machine lacks this isolation")
                clear_latch(self._context.layout.latch)
                continue
            used = report.evidence.isolation.used if isinstance(report, RunReport) and report.evidence.isolation else ""
            yield self._expect(f"isolation {level}", report, lambda r: r.failure is None, used)

    def failure_latches(self) -> Iterator[Tested]:
        report = self._run(_FAILING)
        yield self._expect("a failing command is STEP_FAILED", report, lambda r: _code(r) == "STEP_FAILED")
        latch = read_latch(self._context.layout.latch)
        yield Tested("a failure latches", latch is not None, latch.reason if latch else "no latch")
        again = self._run(_PASSING)
        yield self._expect("latched: nothing runs", again, lambda r: _code(r) == "LATCHED" and not r.evidence.steps)
        clear_latch(self._context.layout.latch)

    def exit_codes(self) -> Iterator[Tested]:
        """Starts the command line as a script would, to see the exit codes that a script gets."""
        for plan, code, exit_code in (
            (_PASSING, "OK", ExitCode.DONE),
            (_FAILING, "STEP_FAILED", ExitCode.FAILED),
            (_ESCAPING, "SANDBOX_ESCAPE", ExitCode.SANDBOX_ESCAPE),
            (_LEAKING, "SECRET_LEAK", ExitCode.SECRET_LEAK),
            ("no plan", "INVALID_PLAN", ExitCode.FAILED),
        ):
            done = self._call("run", "--plan", str(self._write(plan)))
            clear_latch(self._context.layout.latch)
            holds = done.exit_code == exit_code and (code == "OK" or done.stderr.startswith(f"{code}:".encode()))
            yield Tested(f"{code} is exit {exit_code}", holds, f"exit {done.exit_code}")

    def _call(self, *arguments: str) -> process.Captured:
        argv = (sys.executable, "-m", "loopwright", *arguments, "--sandbox-root", str(self._context.sandbox_root()))
        env = {name: value for name, value in self._context.environment.items() if not name.startswith("LOOPWRIGHT_")}
        return process.capture(argv, cwd=self._context.project, env=env)

    def chain(self) -> Iterator[Tested]:
        verdicts = verify(self._context, None)
        wrong = [line for verdict in verdicts for line in verdict.mismatches]
        yield Tested("evidence verifies", not wrong, wrong[0] if wrong else f"{len(verdicts)} runs")
        again = rerun(self._context, "selftest", ignore, Cancellation())
        yield Tested(
            "a rerun reproduces",
            not again.differences,
            "; ".join(again.differences) or "same codes, same tree",
        )

    def environment(self) -> Iterator[Tested]:
        """No file of a run contains a secret value; for each variable it contains only <SET> or <UNSET>."""
        value = self._secret.encode()
        status = re.compile(rb'"?([A-Z][A-Z0-9_]+)"?: "?(<?[A-Za-z]*>?)"?')
        leaks: list[str] = []
        for path in sorted(self._context.layout.own.rglob("*")):
            if not path.is_file():
                continue
            data = path.read_bytes()
            if value in data:
                leaks.append(f"{path.name} contains the secret")
            part = data.partition(b"env_status")[2].partition(b"relaxed_rules")[0]
            leaks += [
                f"{path.name}: {name.decode()}"
                for name, stored in status.findall(part)
                if stored not in (b"<SET>", b"<UNSET>")
            ]
        yield Tested("no value of a variable is stored", not leaks, leaks[0] if leaks else "only <SET> and <UNSET>")

    def _run(self, plan: str, *, mode: str = "auto", isolation: str = "auto") -> RunReport | LoopwrightError:
        path = self._write(plan)
        values = self._context.settings.values
        sandbox = msgspec.structs.replace(values.sandbox, mode=mode, isolation=isolation)
        context = msgspec.structs.replace(
            self._context, settings=Settings(msgspec.structs.replace(values, sandbox=sandbox), {})
        )
        cancellation = Cancellation()
        try:
            return run(context, RunOptions(plan=path), ignore, cancellation)
        except LoopwrightError as problem:
            return problem
        finally:
            cancellation.close()

    def _write(self, plan: str) -> Path:
        path = self._context.layout.own / "selftest.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(plan)
        return path

    @staticmethod
    def _expect(
        what: str, report: RunReport | LoopwrightError, holds: Callable[[RunReport], bool], text: str = ""
    ) -> Tested:
        if isinstance(report, LoopwrightError):
            return Tested(what, False, report.message)
        failure = report.failure.message.text if report.failure else ""
        return Tested(what, holds(report), text or failure or "passed")

    @staticmethod
    def _commit(project: Path) -> None:
        identity = (
            "-c",
            "user.name=selftest",
            "-c",
            "user.email=selftest@localhost",
            "-c",
            "commit.gpgsign=false",
        )
        env = {
            "PATH": os.environ.get("PATH", ""),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "selftest")):
            process.capture(("git", *identity, *arguments), cwd=project, env=env)


def _code(report: RunReport) -> str:
    return report.failure.code if report.failure else "OK"
