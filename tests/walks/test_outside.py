"""Files that an agent writes outside its sandbox are reported, and are not part of the work."""

from __future__ import annotations

import json

import pytest

REACHES_OUT = {
    "role": "builder",
    "run": "touch done; mkdir -p ~/.cache/x; echo 1 > ~/.cache/x/y; echo mine > ~/.bashrc; {more}",
}


@pytest.fixture
def reaching(loops):
    def make(isolation, more="true"):
        loops.configure([{**REACHES_OUT, "run": REACHES_OUT["run"].replace("{more}", more)}])
        loops.project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = isolation
        loops.project.commit("settings")
        loop_id = loops.new("--task", "t")
        done = loops.run("start", loop_id)
        (record,) = (loops.project.own / "loops").glob(f"{loop_id}.progress/turns/*-builder/turn.json")
        return done, loops.run("show", loop_id), json.loads(record.read_text()), loop_id

    return make


@pytest.mark.needs("bwrap")
def test_files_written_to_the_hidden_home_are_named_and_removed(reaching, loops):
    _, page, record, loop_id = reaching("auto")
    assert record["outside"] == ["~/.bashrc"]
    assert "the agent wrote files outside its sandbox: ~/.bashrc; they are not kept" in page.stdout
    assert not (loops.project.home / ".bashrc").exists()
    patch = loops.project.own / "loops" / f"{loop_id}.progress" / "changes.patch"
    assert ".bashrc" not in patch.read_text()


def test_changes_to_the_checkout_by_an_unconfined_agent_are_named(reaching, loops):
    checkout = loops.project.root
    reach = f"echo x > {checkout}/planted.py; echo y >> {checkout}/README; echo z > {checkout}/.git/hooks/pre-commit"
    _, page, record, _ = reaching("none", reach)
    assert record["outside"] == [".git/hooks/pre-commit", "README", "planted.py"]
    assert "your checkout changed during a turn without confinement: .git/hooks/" in page.stdout


@pytest.mark.needs("bwrap")
def test_a_turn_with_very_deep_or_many_outside_files_succeeds(reaching):
    deep = "cd ~; i=0; while [ $i -lt 1100 ]; do mkdir d; cd d; i=$((i+1)); done; cd ~; seq 300 | xargs touch"
    _, page, record, _ = reaching("auto", deep)
    assert len(record["outside"]) == 100
    assert "they are not kept" in page.stdout
    assert record["failure"] is None


def test_an_agent_that_stays_inside_is_not_reported(loops):
    loops.configure([{"role": "builder", "run": "touch done"}])
    loop_id = loops.new("--task", "t")
    loops.run("start", loop_id)
    assert "outside" not in loops.run("show", loop_id).stdout
    assert "your checkout" not in loops.run("show", loop_id).stdout
