"""A new user with only the README: their own agent as `command`, the first line, and then each `next` command."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from tests.walks.workflow_kit import BUILT, REPLY, ok

README = Path(__file__).parent.parent.parent / "README.md"
# A stand-in for a user's agent: it reads the prompt and does the work of the role that the prompt names.
AGENT = """
import json, os, pathlib, subprocess
prompt = pathlib.Path(os.environ["LOOPWRIGHT_PROMPT"]).read_text()
data = json.loads(pathlib.Path("tools/agent.json").read_text())
if "slices" in prompt and "deltas" in prompt:
    print(json.dumps(data["plan"]))
elif "VS-1" in prompt:
    subprocess.run(["sh", "-c", data["work"]], check=True)
    print("done")
else:
    print(json.dumps({"sections": data["sections"], "question": None, "ambiguity": 0.0}))
"""


def readme_block(language, containing):
    """The block of the README that a user copies."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)
    return next(block for block in blocks if containing in block)


def test_following_the_readme_and_next_leads_to_the_specs(project):
    project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    project.commit("a greeting")
    domain = {"Target Spec Domains": "- greeting", "Execution Inputs": "- none"}
    project.write("tools/agent.json", json.dumps({"plan": REPLY, "work": BUILT, "sections": domain}))
    project.write("tools/agent.py", AGENT)
    project.commit("a user's agent, where a sandbox sees it")
    ok(project, "init")
    settings = readme_block("toml", 'kind = "command"').replace("my-agent", "python3 tools/agent.py")
    config = project.own / "config.toml"
    config.write_text(config.read_text() + settings)
    commands = readme_block("sh", "loopwright clarify").splitlines()
    first = shlex.split(commands[0], comments=True)
    typed = [first]
    while len(typed) < 60:
        command = typed[-1]
        assert command[0] == "loopwright", f"not something to type: {command}"
        done = project.run(*command[1:])
        assert done.exit_code == 0, f"{command}\n{done.stdout}{done.stderr}"
        (flow,) = project.run("next", "--json").json()["workflows"] or [None]
        if flow is None:
            break
        # Each answer says something else.
        answer = f"the README {chr(96 + len(typed)) * 3} and {chr(123 - len(typed)) * 3}"
        typed.append(shlex.split(flow["recommended_next_action"].replace("…", answer)))
    verbs = list(dict.fromkeys(command[1] for command in typed))
    assert verbs == ["clarify", "answer", "approve", "plan", "build", "review", "archive"]
    assert "hello {name}" in (project.root / "hello.py").read_text()
    ok(project, "specs", "verify")
    assert project.run("verify").exit_code == 0
