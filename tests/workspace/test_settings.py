"""Settings: where each value comes from, and what is wrong with them."""

from __future__ import annotations

import pytest

from loopwright.errors import SettingsInvalid
from loopwright.workspace.layout import Flavour, Layout, detect_flavour, record_choice
from loopwright.workspace.settings import RESERVED_VARIABLES, load_settings
from loopwright.workspace.settings_model import Values


def load(tmp_path, user="", workspace="", environment=None, flags=None):
    (tmp_path / "user.toml").write_text(user)
    (tmp_path / "workspace.toml").write_text(workspace)
    return load_settings(
        user_file=tmp_path / "user.toml",
        workspace_file=tmp_path / "workspace.toml",
        environment=environment or {},
        flags=flags or {},
    )


def test_later_wins_and_each_value_knows_its_origin(tmp_path):
    found = load(
        tmp_path,
        user="[run]\njobs = 2\ntimeout_s = 5\n[sandbox]\nmode = 'copy'\n",
        workspace="[run]\njobs = 3\ntimeout_s = 6\n",
        environment={"LOOPWRIGHT_RUN_JOBS": "4", "LOOPWRIGHT_SANDBOX_PROVIDE": "a, b", "LOOPWRIGHT_RUN_LATCH": "off"},
        flags={("run", "jobs"): 5, ("run", "max_retries"): None},
    )
    shown = {(one.section, one.key): (one.value, one.origin) for one in found.listed()}
    assert shown["run", "jobs"] == (5, "flag --jobs")
    assert shown["run", "timeout_s"][0] == 6
    assert shown["run", "timeout_s"][1].endswith("workspace.toml")
    assert shown["sandbox", "mode"][0] == "copy"
    assert shown["sandbox", "provide"] == (["a", "b"], "LOOPWRIGHT_SANDBOX_PROVIDE")
    assert shown["run", "latch"] == (False, "LOOPWRIGHT_RUN_LATCH")
    assert shown["run", "max_retries"] == (2, "default")


@pytest.mark.parametrize(
    ("workspace", "environment", "said"),
    [
        ("[run]\njbos = 2\n", {}, "run.jbos is unknown; did you mean 'jobs'?"),
        ("[rnu]\njobs = 2\n", {}, "section [rnu] is unknown; did you mean 'run'?"),
        ("[run]\njobs = 'two'\n", {}, "run.jobs"),
        ("[run]\njobs = 0\n", {}, "run.jobs"),
        ("[sandbox]\nmode = 'warp'\n", {}, "sandbox.mode"),
        ("run = 3\n", {}, "[run] must be a table"),
        ("[run\n", {}, "line 1"),
        ("[agents.x]\nkid = 'command'\n", {}, "did you mean 'kind'?"),
        ("[agents.x]\nhosts = ['a.example', '*.example']\n", {}, "hosts: '*.example' is not a host or host:port"),
        ("[agents.x]\nhosts = 'a.example'\n", {}, "[agents.x]"),
        ("", {"LOOPWRIGHT_RUN_JOB": "2"}, "did you mean 'LOOPWRIGHT_RUN_JOBS'?"),
        ("", {"LOOPWRIGHT_RUN_JOBS": "many"}, "run.jobs"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, workspace, environment, said):
    with pytest.raises(SettingsInvalid) as caught:
        load(tmp_path, workspace=workspace, environment=environment)
    assert said in caught.value.message


def test_every_problem_is_reported_at_once(tmp_path):
    with pytest.raises(SettingsInvalid) as caught:
        load(tmp_path, user="[a]\n", workspace="[run]\nx = 1\ny = 2\n", environment={"LOOPWRIGHT_Z": "1"})
    assert caught.value.message.count("is unknown") == 4


def test_an_agent_of_the_user_and_one_of_the_workspace_are_both_there(tmp_path):
    found = load(
        tmp_path,
        user="[agents.a]\nkind = 'command'\ncommand = 'x'\n",
        workspace="[agents]\ndefault = 'a'\n[agents.b]\nkind = 'scripted'\nturns = 'y'\n",
    )
    assert set(found.values.agents.named) == {"a", "b"}
    assert found.values.agents.default == "a"


def test_an_agent_in_both_files_is_merged_key_by_key_and_each_key_knows_its_origin(tmp_path):
    found = load(
        tmp_path,
        user="[agents.a]\nkind = 'command'\ncommand = 'x'\n",
        workspace="[agents.a]\nmodel = 'm'\n",
    )
    agent = found.values.agents.named["a"]
    assert (agent.kind, agent.command, agent.model) == ("command", "x", "m")
    shown = {one.key: one.origin for one in found.listed() if one.section == "agents.a"}
    assert shown["command"].endswith("user.toml")
    assert shown["model"].endswith("workspace.toml")
    assert shown["timeout_s"] == "default"


def test_both_layouts_are_where_the_design_says(tmp_path):
    unified = Layout(tmp_path, Flavour.UNIFIED, tmp_path / "home")
    interop = Layout(tmp_path, Flavour.INTEROP, tmp_path / "home")
    own = tmp_path / ".loopwright"
    assert (unified.plan, unified.blocker) == (own / "plan.latest.yaml", own / "blocker.latest.yaml")
    assert (unified.result, unified.latch, unified.runs) == (own / "run.latest.yaml", own / "latch.lock", own / "runs")
    state = tmp_path / ".claude" / "state"
    assert interop.plan == state / "thinking" / "plan.latest.yaml"
    assert interop.blocker == state / "thinking" / "blocker.latest.yaml"
    assert interop.result == state / "reflectloop" / "reflectloop.latest.yaml"
    assert interop.runs == state / "reflectloop" / "runs"
    assert interop.latch == tmp_path / "home" / ".claude" / "latch.lock"
    assert interop.loops == tmp_path / ".loop"
    assert interop.reflections == tmp_path / ".mosaic" / "reflections"
    assert interop.config == unified.config


@pytest.mark.parametrize(
    ("trace", "flavour"),
    [
        (".claude/state/thinking/plan.latest.yaml", Flavour.INTEROP),
        (".claude/state/thinking/blocker.latest.yaml", Flavour.INTEROP),
        (".claude/state/reflectloop/runs/x", Flavour.INTEROP),
        (".loop/x.json", Flavour.INTEROP),
        ("home/.claude/latch.lock", Flavour.INTEROP),
        (".mosaic/reflections/x", Flavour.UNIFIED),
        (".claude/settings.json", Flavour.UNIFIED),
        ("openspec/x", Flavour.UNIFIED),
    ],
)
def test_interop_is_chosen_by_the_other_tools_files_unless_ours_are_there(tmp_path, trace, flavour):
    path = tmp_path / trace
    path.parent.mkdir(parents=True)
    path.write_text("")
    assert detect_flavour(tmp_path, tmp_path / "home") is flavour
    (tmp_path / ".loopwright").mkdir()
    assert detect_flavour(tmp_path, tmp_path / "home") is Flavour.UNIFIED


def test_the_choice_is_recorded_once(tmp_path):
    layout = Layout(tmp_path, Flavour.INTEROP, tmp_path)
    assert record_choice(layout)
    assert not record_choice(Layout(tmp_path, Flavour.UNIFIED, tmp_path))
    assert 'layout = "interop"' in layout.config.read_text()


def test_no_variable_that_we_set_for_our_children_is_one_of_a_setting():
    """Otherwise a user's own limit would be skipped silently."""
    names = {f"LOOPWRIGHT_{section}_{key}".upper() for section, kind in _sections() for key in kind.__struct_fields__}
    assert "LOOPWRIGHT_BUDGET_USD" in names
    assert names & RESERVED_VARIABLES == set()


def _sections():
    values = Values()
    return [(name, type(getattr(values, name))) for name in values.__struct_fields__]
