"""Folders with code that may be source or judge it: `init` and `status` list them until a person decides."""

from __future__ import annotations

from loopwright.testing.sample import SPEC


def test_unknown_folders_are_listed_until_a_setting_names_them(project):
    for name in ("src/calc.js", "stuff/rules.js", "qa/run.js"):
        project.write(name, "exports.x = 1\n")
    project.write("package.json", '{"scripts": {"test": "node qa/run.js"}}\n')
    project.commit("code in three folders")
    shown = project.run("init")
    assert "source, which the work may change: src/**" in shown.stdout
    assert "folders that may be source or judge it: stuff\n" in shown.stdout
    document = project.run("init", "--json").json()
    assert (document["source"], document["unknown"]) == (["src/**"], ["stuff"])

    project.write("../SPEC.md", SPEC)
    assert project.run("plan", "greet", "--direct", "../SPEC.md", "--agent", "").exit_code == 0
    line = "the work may not change stuff: add stuff/** to project.source if it is source"
    assert line in project.run("status", "greet").stdout
    config = project.own / "config.toml"
    config.write_text(config.read_text().replace('["src/**"]', '["src/**", "stuff/**"]'))
    assert line not in project.run("status", "greet").stdout
