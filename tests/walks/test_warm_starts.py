"""A forked call gives the same output as a new process: the other tests rely on that."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from loopwright.kernel import process_tree
from loopwright.testing import warm

CALLS = {
    "a page of help": ("--help",),
    "a page of a group": ("loop", "new", "--help"),
    "a wrong option": ("status", "--nonsense"),
    "an answer in JSON": ("status", "--json"),
    "an error in JSON": ("verify", "run-nowhere", "--json"),
    "settings": ("settings", "--json"),
    "explained": ("explain", "exit-codes"),
}


@pytest.fixture
def cold(monkeypatch):
    def run(project, *arguments, **more):
        with monkeypatch.context() as patch:
            patch.setenv("COLD_STARTS", "1")
            return project.run(*arguments, **more)

    return run


@pytest.mark.parametrize("arguments", CALLS.values(), ids=CALLS)
def test_both_say_the_same(project, cold, arguments):
    assert warm.can_be_warm(project.environment)
    assert project.run(*arguments) == cold(project, *arguments)


def test_both_say_the_same_in_chinese(project, cold):
    env = {"LANG": "zh_CN.UTF-8"}
    for arguments in (("--help",), ("status",), ("loop", "new", "--help")):
        assert project.run(*arguments, env=env) == cold(project, *arguments, env=env)
        assert project.run(*arguments, env=env) != project.run(*arguments)


def test_a_call_sees_its_own_variables_and_leaves_no_variable(project, cold):
    env = {"LOOPWRIGHT_SANDBOX_ISOLATION": "none"}
    before = project.run("settings", "--json")
    assert project.run("settings", "--json", env=env) == cold(project, "settings", "--json", env=env) != before
    assert project.run("settings", "--json") == before


def test_a_call_reads_its_input_and_works_in_its_folder(project, cold):
    below = project.write("src/a.py", "x = 1\n").parent
    for stdin in (b"a.py\n", b"", b"a.py\n" * 30_000):
        asked = ("risk", "--files", "-", "--json")
        assert project.run(*asked, cwd=below, stdin=stdin) == cold(project, *asked, cwd=below, stdin=stdin)


def test_a_call_that_exceeds_its_time_is_ended(project):
    project.plan({"id": "P-1", "action": "wait", "commands": ["sleep 600"]})
    with pytest.raises(TimeoutError):
        warm.run_warm(("run",), cwd=project.root, env=project.environment, stdin=b"", timeout_s=0)
    assert not [pid for pid in process_tree.all_processes() if process_tree.works_in(pid, str(project.root))]


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "LD_PRELOAD", "LC_ALL", "TZ", "LANGUAGE"])
def test_some_variables_require_a_new_process(project, name):
    assert not warm.can_be_warm({**project.environment, name: "x"})
    assert not warm.can_be_warm({**project.environment, "LANG": "de_DE.ISO-8859-1"})


def test_warm_processes_do_not_import_the_statistics():
    """The statistics packages would triple the memory that each fork copies."""
    code = "import sys; from loopwright.testing import warm; warm._import_all(warm._STATISTICS); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert "loopwright.cli.main" in modules
    assert not {"numpy", "scipy", "matplotlib"} & set(modules)


def test_forks_share_only_values_that_no_folder_variable_or_machine_decides():
    """A cache that is filled before the fork stays filled in it. A new process would fill the cache itself."""
    code = (
        "import functools, gc\n"
        "from loopwright.testing import first_use, warm\n"
        "warm._import_all(warm._STATISTICS)\n"
        "first_use.build_shared_values()\n"
        "caches = [item for item in gc.get_objects() if isinstance(item, functools._lru_cache_wrapper)]\n"
        "names = {f'{item.__module__}.{item.__qualname__}' for item in caches if item.cache_info().currsize}\n"
        "print(*sorted(name for name in names if name.startswith('loopwright.')))\n"
    )
    filled = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert filled == [
        "loopwright.judging.globs._compiled",
        "loopwright.redaction.build._detector",
        "loopwright.wiring.agents._points",
        "loopwright.workspace.settings._types",
    ]


def test_calls_at_once_are_answered_each(project):
    answers = {}

    def call(number):
        answers[number] = project.run("explain", "exit-codes" if number % 2 else "nothing-of-the-kind").exit_code

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answers[number] for number in range(1, 8, 2)} == {0}
    assert len({answers[number] for number in range(0, 8, 2)}) == 1
    assert 0 not in {answers[number] for number in range(0, 8, 2)}
