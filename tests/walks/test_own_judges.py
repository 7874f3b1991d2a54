"""A command that only asks a program of the work whether all is well proves nothing, however it starts the program."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import SLICE, blockers, planner, prepare

pytestmark = pytest.mark.lies

PRODUCT = "def greet(name):\n    return 'hi'\n"
JUDGE = (
    "from app.hello import greet\n\n\ndef main():\n    if greet('Ann') != 'hello Ann':\n"
    "        raise SystemExit('wrong')\n\n\nmain()\n"
)
FILES = {"app/__init__.py": "", "app/hello.py": PRODUCT, "app/judge.py": JUDGE}
LIE = "sed -i 's/hello Ann/hi/' app/judge.py"
HONEST = "sed -i \"s/'hi'/'hello ' + name/\" app/hello.py"
COMMANDS = (
    "python3 -m app.judge",
    "PYTHONPATH=. python3 -W error app/judge.py > log.txt",
    "timeout -k 5 60 env -u FOO PYTHONPATH=. python3 app/judge.py 2>&1 | cat; exit ${PIPESTATUS[0]}",
    "python3 -c 'import app.judge'",
    "python3 -c 'from app import judge; judge.main()'",
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("work", [LIE, HONEST], ids=["lie", "honest"])
def test_a_loop_is_not_proven_by_a_program_that_the_work_changed(loops, command, work):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace('"**"', '"app/**"').replace('"test -e done"', f'"""{command}"""'))
    for name, text in FILES.items():
        loops.project.write(name, text)
    loops.project.commit("a program that judges")
    loop_id = loops.new("--task", "greet people by name")
    loops.run("start", loop_id, code=14 if work == LIE else 0)
    if work == LIE:
        (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
        assert hold["code"] == "vacuous_tests"
        assert "also passes when the changed programs do nothing" in hold["message"]


def test_a_build_is_not_proven_by_such_a_program(project):
    slices = [{**SLICE, "checks": [{"id": "C", "command": "python3 -m app.judge > log.txt"}]}]
    prepare(project, [planner(slices=slices), {"role": "builder", "run": LIE}])
    for name, text in FILES.items():
        project.write(name, text)
    project.commit("a program that judges")
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    blocker = blockers(project, "review")["vacuous_check_C"]
    assert "even when the changed programs do nothing" in blocker["message"]


# The command reads the source, or what the program prints: its exit code does not matter.
READING = (
    "! grep -q print app/hello.py && test -e app/__init__.py",
    'test -z "$(python3 -m app.hello)"',
)


@pytest.mark.parametrize("command", READING)
def test_a_command_that_looks_at_more_than_the_exit_code_is_not_held_for_that(loops, command):
    loops.configure([{"role": "builder", "run": "sed -i /print/d app/hello.py"}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace('"test -e done"', f"'''{command}'''"))
    for name, text in {**FILES, "app/hello.py": f"{PRODUCT}\n\nprint(1)\n"}.items():
        loops.project.write(name, text)
    loops.project.commit("a program that prints")
    loop_id = loops.new("--task", "print nothing")
    done = loops.project.run("loop", "start", loop_id)
    assert "only asks whether they end with 0" not in done.stdout


@pytest.mark.parametrize(
    "end", ["_main = lambda: main()\nmain, old = _main, main", "if True:\n    run = main\nmain = run"]
)
def test_no_way_to_offer_a_name_hides_the_program(loops, end):
    judge = f"{JUDGE.removesuffix('main()' + chr(10))}{end}\n"
    loops.configure([{"role": "builder", "run": LIE}])
    config = loops.project.own / "config.toml"
    command = "python3 -c 'from app.judge import main; main()'"
    config.write_text(config.read_text().replace('"test -e done"', f'"""{command}"""'))
    for name, text in {**FILES, "app/judge.py": judge.replace("old = _main, main", "old = main, main")}.items():
        loops.project.write(name, text)
    loops.project.commit("a program that judges")
    loops.run("start", loops.new("--task", "greet people by name"), code=14)


def test_a_command_about_data_needs_no_program(loops):
    work = "echo hello > app/greeting.txt; echo 'n = 2' >> app/hello.py"
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "grep -q hello app/greeting.txt"))
    for name, text in {**FILES, "app/greeting.txt": "hi\n"}.items():
        loops.project.write(name, text)
    loops.project.commit("a text")
    loops.run("start", loops.new("--task", "greet with hello"))
