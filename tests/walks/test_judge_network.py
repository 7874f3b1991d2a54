"""Tests that judge work have a network of their own: nothing that an agent left at a server reaches them."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

PYTHON = "/usr/bin/python3"
pytestmark = pytest.mark.skipif(not Path(PYTHON).exists(), reason="needs a Python outside the home folder")
LEVELS = [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock"]
CLOSED = "closed unless a step says so"
# Serves itself, so it also needs a loopback that works. The word is right only where the server answers.
TEST = """\
import socket, unittest
from words import word

class Tests(unittest.TestCase):
    def test_loopback(self):
        with socket.create_server(("127.0.0.1", 0)) as own:
            socket.create_connection(own.getsockname()).close()

    def test_word(self):
        self.assertEqual(word(), "hello")
"""
ASKS = (
    "import socket\\n\\ndef word():\\n    with socket.create_connection(('127.0.0.1', {port})) as server:\\n"
    "        return server.recv(9).decode()\\n"
)


@contextmanager
def server_of_the_machine():
    """A server that knows the answer: where an agent would leave it."""

    def answer(listener):
        try:
            while True:
                with listener.accept()[0] as connection:
                    connection.sendall(b"hello")
        except OSError:
            return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]


@pytest.fixture
def judged(loops, request, tmp_path):
    """A function that lets an agent's product ask a server; it returns the evidence of the run on the work."""
    if request.param == "landlock":
        tools = tmp_path / "tools"
        tools.mkdir()
        for tool in ("bash", "sh", "git", "cat", "printf", "env"):
            (tools / tool).symlink_to(shutil.which(tool))
        loops.project.environment["PATH"] = os.fspath(tools)

    def start(port, code, *, more="", setup=""):
        asks = f'printf "{ASKS.format(port=port)}" > words.py'
        loops.configure([{"role": "builder", "run": asks}], isolation="auto")
        config = loops.project.own / "config.toml"
        command = f'[{{command = "{PYTHON} -m unittest -q"{more}}}]'
        text = config.read_text().replace('"test -e done"', command)
        config.write_text(f'{text}[sandbox]\nsetup = ["{setup}"]\n' if setup else text)
        loops.project.write("words.py", "def word():\n    return 'hi'\n")
        loops.project.write("test_words.py", TEST)
        loops.project.commit("a word, and its tests")
        loop_id = loops.new("--task", "say hello", "--max-iterations", "2")
        loops.run("start", loop_id, code=code)
        (run,) = loops.project.own.glob(f"runs/{loop_id}-validate*")
        return loops.project.evidence(run.name)

    return start


@pytest.mark.parametrize("judged", LEVELS, indirect=True)
def test_an_answer_left_at_a_server_of_the_machine_does_not_reach_the_tests(judged):
    with server_of_the_machine() as port:
        evidence = judged(port, 12)
    assert evidence["isolation"]["network"] == CLOSED
    (step,) = evidence["steps"]
    assert {test["id"].rpartition("::")[2]: test["status"] for test in step["tests"]} == {
        "test_loopback": "passed", "test_word": "failed",
    }  # fmt: skip
    assert "the network is closed: `network = true` opens it for a command" in step["reason"]


@pytest.mark.parametrize("judged", LEVELS[:1], indirect=True)
def test_a_person_opens_the_network_for_a_command_and_the_evidence_says_so(judged):
    with server_of_the_machine() as port:
        evidence = judged(port, 0, more=", network = true")
    assert [step["network"] for step in evidence["steps"]] == [True]


@pytest.mark.parametrize("judged", LEVELS, indirect=True)
@pytest.mark.parametrize(("more", "code"), [("", 12), (", network = true", 0)])
def test_a_rerun_has_the_network_of_the_first_run(judged, loops, more, code):
    with server_of_the_machine() as port:
        evidence = judged(port, code, more=more)
        done = loops.project.run("rerun", evidence["run_id"])
        again = loops.project.evidence(f"{evidence['run_id']}-rerun")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert [step["tests"] for step in again["steps"]] == [step["tests"] for step in evidence["steps"]]
    assert again["isolation"]["network"] == evidence["isolation"]["network"] == CLOSED


@pytest.mark.parametrize("judged", LEVELS[:1], indirect=True)
def test_setup_may_use_the_network_also_for_a_judge(judged):
    with server_of_the_machine() as port:
        evidence = judged(port, 12, setup=f"exec 3<>/dev/tcp/127.0.0.1/{port}")
    setup = next(step for step in evidence["steps"] if step["id"] == "+setup")
    assert (setup["outcome"], setup["network"]) == ("passed", True)
