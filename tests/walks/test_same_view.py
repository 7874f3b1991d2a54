"""An agent's sandbox and a judge's sandbox look the same from inside."""

from __future__ import annotations

import shutil

import pytest

# What code can find out about its surroundings. Names of sandboxes are opaque, so that they tell nothing. A command
# under Landlock joins a control group of its own after 30 ms, so a look sees it or not, in either sandbox.
LOOK = r"""
{ pwd; id -u; id -g; uname -n; umask; ls -d ~; ls -A ~ | head -5; ls -ld /tmp /var/tmp /dev/shm | cut -c1-10
  env | grep -E '^(CI|HOME|PATH|TMPDIR|TMP|USER|LOGNAME|LANG|LC_ALL|SHELL|TERM|GIT_CEILING_DIRECTORIES)=' | sort
  find .git -maxdepth 1 | sort; cat .git/HEAD .git/config .git/objects/info/alternates; git rev-parse HEAD
  cat /proc/1/comm /proc/self/cgroup; readlink /proc/self/root; cat /proc/self/status | grep -E '^(Cap|Sec|NoNew)'
  ls -d "$TMPDIR"/.. | sed 's/.*/parent of tmp/'
} | sed -E 's/[0-9a-f]{12}(-[0-9]+)?/NAME/g; s,^0::/loopwright-[0-9]+-NAME$,0::/,'
"""


@pytest.mark.parametrize("isolation", [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock"])
def test_an_agent_and_a_judge_see_the_same_surroundings(loops, isolation, tmp_path):
    project = loops.project
    if isolation == "landlock":
        tools = tmp_path / "bin"
        tools.mkdir()
        names = ("bash", "sh", "git", "id", "uname", "ls", "head", "env", "grep", "sort", "find", "cat", "readlink")
        for tool in (*names, "sed", "cut", "diff"):
            (tools / tool).symlink_to(shutil.which(tool))
        project.environment["PATH"] = str(tools)
    project.write("look.sh", LOOK)
    project.commit("look around")
    loops.configure([{"role": "builder", "run": "sh look.sh > seen.txt 2>&1; cat seen.txt"}], isolation="auto")
    project.environment["LOOPWRIGHT_LOOP_TEST_COMMAND"] = (
        "sh look.sh > $TMPDIR/now.txt 2>&1; diff seen.txt $TMPDIR/now.txt"
    )
    loop_id = loops.new("--task", "look around")
    project.run("loop", "start", loop_id)
    (run,) = (path for path in (project.own / "runs").iterdir() if path.name.endswith("-validate"))
    evidence = project.evidence(run.name)
    if evidence["isolation"]["used"] != isolation:
        pytest.skip(f"needs {isolation}")
    log = next((run / "logs").iterdir()).read_text()
    assert (log, evidence["steps"][0]["commands"][0]["exit_code"]) == ("", 0)
