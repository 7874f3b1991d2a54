"""What walks through workflows share: the sample project with written turns, and how to ask for codes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
import yaml

from loopwright.testing.sample import BUILT, CHECK, DELTA, FILES, REPLY, SLICE, SPEC
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.facts import Gates
from loopwright.workflow.model import Delivery, Transition
from loopwright.workflow.standing import Readiness, Standing
from loopwright.workflow.store import WorkflowStore
from loopwright.workflow.verdict import Review
from loopwright.workspace.layout import Flavour, Layout

# Walks import the sample project and its helpers from here.
__all__ = ["BUILT", "CHECK", "DELTA", "REPLY", "SLICE", "SPEC"]


# Plug-ins of pytest that no walk needs: without them a start takes a sixth less.
# tests/judging/runners/test_real_runners.py runs all plug-ins, also those of other packages.
_UNUSED = (
    "cacheprovider", "faulthandler", "logging", "pastebin", "threadexception", "unraisableexception", "stepwise",
    "setuponly", "setupplan",
)  # fmt: skip
_PACKAGES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")


@cache
def _pytest_alone():
    """A Python with the locked pytest and no other package: each start of pytest reads what all packages offer.

    The packages are links to those of our own environment. The folder is below the interpreter's own, because sandboxes
    show that one.
    """
    place = Path(sys.prefix) / f"pytest-alone-{pytest.__version__}"
    if not place.is_dir():
        making = Path(tempfile.mkdtemp(dir=sys.prefix))
        making.chmod(0o755)
        home = Path(sys.base_prefix) / "bin"
        (making / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
        (making / "bin").mkdir()
        (making / "bin" / "python3").symlink_to(home / "python3")
        installed = Path(pytest.__file__).parent.parent
        packages = making / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        packages.mkdir(parents=True)
        for path in installed.iterdir():
            if path.name.partition("-")[0].removesuffix(".py") in _PACKAGES:
                (packages / path.name).symlink_to(path)
        try:
            making.rename(place)
        except OSError:
            shutil.rmtree(making)  # another process was first
    return place / "bin" / "python3"


PYTEST = f"{_pytest_alone()} -m pytest -q {' '.join(f'-p no:{plugin}' for plugin in _UNUSED)}"
EVERY_FILE = '[project]\nsource = ["**"]\n'
# As `init` finds it in a flat project.
ONLY_HELLO = '[project]\nsource = ["hello.py"]\n'


def planner(**changes):
    """A planner's turn; the arguments override the default answer."""
    return {"role": "planner", "answer": json.dumps({**REPLY, **changes})}


def prepare(project, turns=(), *, settings=""):
    """The sample project with a scripted agent that works only if it is named. Its work may change any source file."""
    if "[project]" not in settings:
        settings = f"{EVERY_FILE}{settings}"
    for name, text in FILES.items():
        project.write(name, text)
    project.commit("a greeting")
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": list(turns)}))
    project.write(
        ".loopwright/config.toml",
        '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n' + settings,
    )
    project.write("../SPEC.md", SPEC)


def ok(project, *arguments):
    done = project.run(*arguments)
    assert done.exit_code == 0, done.stdout + done.stderr
    return done


def refusal(project, *arguments):
    """The typed refusal of a command."""
    done = project.run(*arguments, "--json")
    assert done.exit_code == 1, done.stdout + done.stderr
    record = json.loads(done.stderr.splitlines()[-1])
    assert record["ok"] is False
    assert record["next"]
    return record


def status(project, slug="greet"):
    return project.ask("status", slug)


def blockers(project, gate, slug="greet"):
    return {one["code"]: one for one in status(project, slug)["readiness"][gate]["blockers"]}


def plan(project, *arguments, agent="scripted", slug="greet"):
    """Plan the workflow directly from the spec."""
    if not arguments and agent == "scripted":
        return project.at("planned", slug)
    return ok(project, "plan", slug, "--direct", str(project.root.parent / "SPEC.md"), "--agent", agent, *arguments)


def state(project, slug="greet"):
    return json.loads((project.own / "workflows" / slug / "state.json").read_text())


def built(project, turns=None, *, slug="greet", settings="", **changes):
    """Planned, approved and built, by the commands that a person types."""
    builds = {"role": "builder", "run": BUILT}
    prepare(project, [planner(**changes), *(turns if turns is not None else [builds])], settings=settings)
    project.at("built", slug)


def build_it(project, slug="greet"):
    """Plan, approve and build with the scripted turns."""
    return project.at("built", slug)


def finish(project, slug="greet", *, work=BUILT):
    """Review and deliver with the library: the work is in the checkout, and the workflow is done."""
    subprocess.run(["sh", "-c", work], cwd=project.root, check=True)
    layout = Layout(project.root, Flavour.UNIFIED, project.home)
    store = WorkflowStore(layout, lambda: datetime.now(UTC), Gates())
    with store.changing(slug) as opened:
        standing = Standing(Readiness(), opened.standing().subjects)
        tree = opened.workflow.verification.tree
        for command in (
            c.Approve(transition=Transition.BUILD_REVIEW, standing=standing, by="ann"),
            c.Enter(transition=Transition.BUILD_REVIEW, standing=standing),
            e.WorkReviewed(review=Review(verdict="approve", reviewer="bob", tree=tree)),
            c.Approve(transition=Transition.REVIEW_DONE, standing=standing, by="ann"),
            c.Enter(
                transition=Transition.REVIEW_DONE,
                standing=standing,
                delivery=Delivery(how="patch", where="main", before="0" * 40, patch_sha256="0" * 64),
            ),
        ):
            opened.apply(command, "ann")


def bytes_of(*tops):
    """The bytes of every file below some folders, by path, for a comparison."""
    return {str(path): path.read_bytes() for top in tops for path in sorted(top.rglob("*")) if path.is_file()}
