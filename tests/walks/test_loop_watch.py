"""A loop in a real terminal: shown on the whole screen and controlled by keys; the terminal is restored."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import termios
import time
from pathlib import Path

import pexpect
import pytest
import yaml

from loopwright.kernel.cells import width_of

TESTS = f"{sys.executable} -c 'import calc; assert calc.double(2) == 4'"
FIXED = "printf 'def double(n):\\n    return n + n\\n' > calc.py"
EVIL = r"printf 'before\033]0;owned\007\033]52;c;ZXZpbA==\007\033[2J\033[31mafter\n'"
PIECES = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])|([^\x1b]+)|(\x1b)")
HALF = re.compile(r"(.*?)((?:\x1b(?:\[[?0-9;]*)?)?)\Z", re.DOTALL)


class Screen:
    """A terminal that knows the few sequences that we write, and fails on any other."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.modes = set()
        self.plain = ""
        self.styles = set()
        self._half = ""
        self._lines = [""] * rows
        self._at = 0

    def feed(self, text):
        # The end of a piece may be half a sequence.
        text, self._half = HALF.match(self._half + text).groups()
        for private, numbers, letter, plain, stray in PIECES.findall(text):
            assert not stray, f"a sequence that is not ours: {text!r}"
            if plain:
                self._print(plain)
            elif private:
                self.modes = self.modes | {numbers} if letter == "h" else self.modes - {numbers}
            else:
                self._command(numbers, letter)

    def _command(self, numbers, letter):
        match letter:
            case "H":
                row, column = (int(number) for number in numbers.split(";"))
                assert column == 1
                assert row <= self.rows
                self._at = row - 1
                self._lines[self._at] = ""
            case "J":
                self._lines = [""] * self.rows
            case "m":
                self.styles |= set(numbers.split(";"))
            case "K":
                pass
            case _:
                raise AssertionError(f"a sequence that is not ours: {numbers}{letter}")

    def _print(self, text):
        if "1049" not in self.modes:
            self.plain += text
            return
        assert text.isprintable(), repr(text)
        self._lines[self._at] += text
        assert width_of(self._lines[self._at]) <= self.columns

    @property
    def text(self):
        return "\n".join(self._lines)


class Terminal:
    """A child in its own terminal, with its screen."""

    def __init__(self, argv, project, size, env):
        columns, rows = size
        self.screen = Screen(columns, rows)
        self.child = pexpect.spawn(
            argv[0], list(argv[1:]), cwd=str(project.root), encoding="utf-8", dimensions=(rows, columns),
            env={**project.environment, "TERM": "xterm-256color", **env},
        )  # fmt: skip
        self.before = self.mode()

    def mode(self):
        """What the terminal does with keys."""
        return termios.tcgetattr(self.child.child_fd)[3]

    def wait_for(self, condition, what="it"):
        while not condition(self.screen):
            try:
                self.screen.feed(self.child.read_nonblocking(65536, timeout=0.2))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                break
        assert condition(self.screen), f"{what} did not come: {self.screen.text}\n{self.screen.plain}"

    def shows(self, *texts):
        for text in texts:
            self.wait_for(lambda screen, text=text: text in screen.text, text)

    def press(self, keys):
        self.child.send(keys)

    def finish(self):
        """The exit code; checks that the terminal is restored."""
        self.wait_for(lambda screen: not self.child.isalive(), "the end")
        try:
            while True:
                self.screen.feed(self.child.read_nonblocking(65536, timeout=1))
        except (pexpect.EOF, pexpect.TIMEOUT):
            pass
        self.child.wait()
        assert self.screen.modes in (set(), {"25", "7"}), "one screen, a cursor, lines that wrap"
        return self.child.exitstatus


@pytest.fixture
def terminal(project):
    made = []

    def start(*arguments, size=(100, 30), env=None):
        made.append(Terminal(project.command("loop", *arguments), project, size, env or {}))
        return made[-1]

    yield start
    for one in made:
        one.child.close(force=True)


@pytest.fixture
def ready(project):
    """A loop whose only turn reports that it waits for a file."""

    def make(*arguments, run=None, usd="0.5"):
        project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "none"
        project.write(".gitignore", ".loopwright/\n")
        project.commit("ignore")
        go = project.root / "go"
        script = run or f"echo hello from the agent; {EVIL}; until [ -e {go} ]; do sleep 0.05; done; {FIXED}"
        turns = [{"role": "builder", "run": script, "tokens": 1234, "usd": usd}]
        project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
        project.write(
            ".loopwright/config.toml",
            f'[project]\nsource = ["**"]\ntest_command = {json.dumps(TESTS)}\n[agents]\ndefault = "scripted"\n'
            '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n',
        )
        options = arguments or ("--task", "write double 写 it")
        return project.run("loop", "new", "double it", *options, "--usd", "9", "--json").json()["loop_id"]

    return make


def go(project):
    (project.root / "go").write_text("")


def states_of(project):
    """The states of the processes that the agent's script runs as."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if str(project.root / "go").encode() in (folder / "cmdline").read_bytes():
                found.append((folder / "stat").read_text().rpartition(")")[2].split()[0])
        except OSError:
            continue
    return found


def is_frozen(project):
    """Stopped by a signal, or in a control group that is frozen."""
    states = states_of(project)
    return bool(states) and (all(state == "T" for state in states) or _frozen_groups(project))


def _frozen_groups(project):
    frozen = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if str(project.root / "go").encode() not in (folder / "cmdline").read_bytes():
                continue
            group = (folder / "cgroup").read_text().strip().rpartition("::")[2].lstrip("/")
            frozen.append("frozen 1" in (_group_root() / group / "cgroup.events").read_text())
        except OSError:
            frozen.append(False)
    return bool(frozen) and all(frozen)


def _group_root():
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    return Path(next((mount[1] for mount in mounts if mount[2] == "cgroup2"), "/sys/fs/cgroup"))


def wait_until(condition):
    while not condition():
        time.sleep(0.01)


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 12)])
def test_a_watcher_sees_tasks_log_and_cost_and_ends_with_the_loop(project, ready, terminal, size):
    loop_id = ready()
    detached = project.run("loop", "start", loop_id, "--detach")
    assert detached.exit_code == 0
    for verb in ("watch", "pause", "stop"):
        assert f"loopwright loop {verb} {loop_id}" in detached.stdout
    watching = terminal("watch", loop_id, size=size)
    watching.shows("double", "running", "▶ T-1", "now    develop T-1")
    if size[0] >= 80:
        watching.shows("write double 写 it", "hello from the agent", "beforeafter", "of 9 USD", "driven by process")
    assert "25" not in watching.screen.modes
    go(project)
    assert watching.finish() == 0
    assert f"{loop_id}: completed" in watching.screen.plain, "the last state stays on the terminal"
    assert "0.50 of 9 USD, 1,234 tokens" in watching.screen.plain
    assert "git apply " in watching.screen.plain


def test_p_freezes_the_action_and_r_resumes_it(project, ready, terminal):
    loop_id = ready()
    assert project.run("loop", "start", loop_id, "--detach").exit_code == 0
    watching = terminal("watch", loop_id)
    watching.shows("hello from the agent")
    watching.press("p")
    watching.shows("● paused", "held by operator", f"loopwright loop resume {loop_id}", "frozen after")
    wait_until(lambda: is_frozen(project))
    watching.press("p")
    watching.shows("and can't pause")
    watching.press("r")
    watching.shows("● running")
    wait_until(lambda: not is_frozen(project))
    go(project)
    assert watching.finish() == 0


def test_s_asks_before_it_stops_and_the_exit_code_reports_the_failure(project, ready, terminal):
    loop_id = ready()
    assert project.run("loop", "start", loop_id, "--detach").exit_code == 0
    watching = terminal("watch", loop_id)
    watching.shows("▶ T-1")
    watching.press("s")
    watching.shows("stop the loop for good")
    watching.press("n")
    watching.wait_for(lambda screen: "for good" not in screen.text)
    watching.press("?")
    watching.shows("freeze all processes within a second")
    watching.press("?")
    watching.press("s")
    watching.shows("stop the loop for good")
    watching.press("y")
    assert watching.finish() == 12
    assert "stopped by " in watching.screen.plain
    wait_until(lambda: states_of(project) == [])


@pytest.mark.parametrize("how", ["q", "SIGTERM", "SIGINT", "exception"])
def test_the_terminal_is_restored(project, ready, terminal, how):
    loop_id = ready()
    assert project.run("loop", "start", loop_id, "--detach").exit_code == 0
    watching = terminal("watch", loop_id)
    watching.shows("▶ T-1", "q quit")
    assert not watching.mode() & (termios.ICANON | termios.ECHO), "keys are read as they are pressed"
    if how == "q":
        watching.press("q")
    elif how == "exception":
        log = project.own / "loops" / f"{loop_id}.events.ndjson"
        with log.open("ab") as stream:
            stream.write(b"{}\n")
    else:
        os.kill(watching.child.pid, getattr(signal, how))
    watching.wait_for(lambda screen: "1049" not in screen.modes and screen.plain.strip(), "the end")
    assert watching.mode() == watching.before
    assert watching.finish() == {"q": 0, "SIGTERM": 143, "SIGINT": 130, "exception": 1}[how]
    if how == "exception":
        assert "DAMAGED_FILE" in watching.screen.plain
        assert "Traceback" not in watching.screen.plain
    else:
        assert project.run("loop", "watch", loop_id, "--no-follow").exit_code == 0, "the loop goes on"
        assert project.run("loop", "stop", loop_id).exit_code == 0


def test_a_suspended_watcher_restores_the_terminal_and_takes_it_again(project, ready, terminal):
    loop_id = ready()
    assert project.run("loop", "start", loop_id, "--detach").exit_code == 0
    watching = terminal("watch", loop_id)
    watching.shows("▶ T-1", "q quit")
    watching.press("\x1a")
    watching.wait_for(lambda screen: "1049" not in screen.modes)
    wait_until(lambda: Path(f"/proc/{watching.child.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    assert watching.mode() == watching.before
    os.kill(watching.child.pid, signal.SIGCONT)
    watching.wait_for(lambda screen: "1049" in screen.modes)
    watching.shows("▶ T-1", "q quit")
    watching.press("q")
    assert watching.finish() == 0
    assert project.run("loop", "stop", loop_id).exit_code == 0


def test_a_resized_terminal_is_redrawn(project, ready, terminal):
    loop_id = ready()
    assert project.run("loop", "start", loop_id, "--detach").exit_code == 0
    watching = terminal("watch", loop_id, size=(100, 30))
    watching.shows("▶ T-1", "q quit")
    watching.child.setwinsize(12, 50)
    watching.wait_for(lambda screen: "q quit" in screen._lines[11])
    assert all(not line for line in watching.screen._lines[12:])
    assert all(width_of(line) <= 50 for line in watching.screen._lines)
    watching.press("q")
    assert watching.finish() == 0
    assert project.run("loop", "stop", loop_id).exit_code == 0


def test_colours_can_be_disabled_and_a_dumb_terminal_gets_lines(project, ready, terminal):
    loop_id = ready()
    assert project.run("loop", "start", loop_id, "--detach").exit_code == 0
    bare = terminal("watch", loop_id, env={"NO_COLOR": "1"})
    bare.shows("▶ T-1", "q quit")
    assert bare.screen.styles & {"31", "32", "33", "36"} == set()
    bare.press("q")
    assert bare.finish() == 0
    dumb = terminal("watch", loop_id, env={"TERM": "dumb"})
    dumb.wait_for(lambda screen: "develop begins: task T-1" in screen.plain)
    go(project)
    assert dumb.finish() == 0
    assert dumb.screen.styles == set()
    assert "the tests passed" in dumb.screen.plain


def test_start_shows_the_same_and_a_second_terminal_is_told_which_process_drives_the_loop(project, ready, terminal):
    loop_id = ready()
    driving = terminal("start", loop_id)
    driving.shows("▶ T-1", "hello from the agent", f"driven by process {driving.child.pid}")
    second = terminal("start", loop_id)
    second.wait_for(lambda screen: "LOOP_REFUSED" in screen.plain)
    assert second.finish() == 1
    assert f"driven by process {driving.child.pid} on" in " ".join(second.screen.plain.split())
    driving.press("p")
    driving.shows("● paused")
    wait_until(lambda: is_frozen(project))
    driving.press("r")
    driving.shows("● running")
    go(project)
    assert driving.finish() == 0
    assert f"{loop_id}: completed" in driving.screen.plain


@pytest.mark.parametrize("how", ["ctrl-c", "q"])
def test_leaving_a_start_interrupts_the_action_and_names_the_command_to_resume(project, ready, terminal, how):
    loop_id = ready()
    driving = terminal("start", loop_id)
    driving.shows("hello from the agent")
    if how == "q":
        driving.press("q")
        driving.shows("interrupt the loop and quit?")
        driving.press("y")
    else:
        driving.child.sendintr()
    assert driving.finish() == 130
    said = " ".join(driving.screen.plain.split())
    assert "develop was interrupted" in said
    assert f"loopwright loop resume {loop_id}" in said
    assert states_of(project) == []
    go(project)
    assert project.run("loop", "resume", loop_id).exit_code == 0


def test_a_terminal_that_goes_away_interrupts_a_start_and_is_no_bug(project, ready, terminal):
    loop_id = ready()
    driving = terminal("start", loop_id)
    driving.shows("hello from the agent")
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), driving.child.child_fd)  # and with that our end of the terminal is closed
    assert driving.child.wait() == 143
    assert states_of(project) == []
    go(project)
    assert project.run("loop", "resume", loop_id).exit_code == 0


def test_a_worker_that_is_killed_is_missed_and_r_starts_another(project, ready, terminal):
    loop_id = ready()
    pid = json.loads(project.run("loop", "start", loop_id, "--detach", "--json").stdout)["pid"]
    watching = terminal("watch", loop_id)
    watching.shows("▶ T-1", f"driven by process {pid}")
    os.kill(pid, signal.SIGKILL)
    watching.shows("no worker", f"→ loopwright loop resume {loop_id}")
    go(project)
    watching.press("r")
    watching.shows("start one in the background?")
    watching.press("y")
    assert watching.finish() == 0


def test_in_interactive_mode_a_menu_asks_before_each_action(project, ready, terminal):
    loop_id = ready("--task", "t", "--mode", "interactive")
    go(project)
    driving = terminal("start", loop_id)
    driving.shows("Choose the next action:", "▸ 1 init", "(default)", "loopwright loop task edit")
    driving.press("\r")
    driving.shows("▸ 1 develop", "  2 validate")
    driving.press("\x1b[B")
    driving.shows("▸ 2 validate")
    driving.press("\r")
    driving.shows("  3 debug", "tests  failed")
    assert project.run("loop", "choose", loop_id, "develop").exit_code == 0, "from another terminal"
    driving.shows("▸ 1 validate")
    driving.press("q")
    assert driving.finish() == 11
    said = " ".join(driving.screen.plain.split())
    assert f"loopwright loop choose {loop_id} validate" in said
    log = project.run("loop", "logs", loop_id).stdout
    assert re.search(r"  (?!worker)\w+ +validate begins", log), "a person chose it"


def test_without_a_terminal_an_interactive_loop_is_held_until_a_choice(project, ready):
    loop_id = ready("--task", "t", "--mode", "interactive")
    go(project)
    held = project.run("loop", "start", loop_id)
    assert held.exit_code == 11
    (hold,) = project.ask("loop", "show", loop_id)["loopwright"]["holds"]
    assert (hold["holder"], hold["code"]) == ("decision", "choice_required")
    assert f"loopwright loop choose {loop_id} init" in held.stdout
    assert f"→ loopwright loop resume {loop_id}" in project.run("status").stdout
    refused = project.run("loop", "choose", loop_id, "validate")
    assert refused.exit_code == 1
    assert "it can: init" in refused.stderr
    assert project.run("loop", "choose", loop_id, "init").exit_code == 11, "done, and it asks again"
    assert project.run("loop", "choose", loop_id, "develop", "--no-start").exit_code == 0
    assert project.run("loop", "start", loop_id).exit_code == 11
    assert project.run("loop", "watch", loop_id, "--no-follow").exit_code == 11
    assert project.run("loop", "start", loop_id, "--mode", "auto").exit_code == 0
    document = project.ask("loop", "show", loop_id)
    assert (document["status"], document["skill_state"]["mode"]) == ("completed", "auto")


def test_events_are_shown_as_sentences_with_the_output_of_agents(project, ready):
    loop_id = ready()
    go(project)
    started = project.run("loop", "start", loop_id)
    assert started.exit_code == 0
    assert "\x1b" not in started.stdout
    assert "develop begins: task T-1" in started.stdout
    logs = project.run("loop", "logs", loop_id).stdout
    assert "task T-1 was worked on, changed: calc.py" in logs
    later = project.run("loop", "logs", loop_id, "--since", "5", "--json").stdout.splitlines()
    assert [json.loads(line)["revision"] > 5 for line in later] == [True] * len(later)
    assert len(later) < len(logs.splitlines())
    assert "completed" in json.loads(later[-2])["text"]
    agent = project.run("loop", "logs", loop_id, "--agent").stdout
    assert "hello from the agent" in agent
    assert "\x1b" not in agent
    followed = project.run("loop", "logs", loop_id, "--agent", "--follow", "--json")
    assert {"type": "log", "text": "hello from the agent"}.items() <= json.loads(
        followed.stdout.splitlines()[0]
    ).items()
    shown = project.run("loop", "show", loop_id).stdout
    assert "Tasks, 1 of 1 done" in shown
    assert shown.splitlines()[-1].startswith("  → loopwright verify ")


def test_as_json_a_watcher_gets_changes_and_log_lines(project, ready):
    loop_id = ready()
    go(project)
    assert project.run("loop", "start", loop_id, "--detach").exit_code == 0
    watched = project.run("loop", "watch", loop_id, "--json")
    assert watched.exit_code == 0
    lines = [json.loads(line) for line in watched.stdout.splitlines()]
    assert {line["type"] for line in lines} == {"events", "log", "worker", "loop"}
    assert "hello from the agent" in [line["text"] for line in lines if line["type"] == "log"]
    told = [text for line in lines if line["type"] == "events" for text in line["text"]]
    assert told[0].startswith("created: double it")
    assert "completed" in told
    assert lines[-1]["status"] == "completed"
