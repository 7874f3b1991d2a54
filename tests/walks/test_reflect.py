"""`loopwright reflect`: records by hand what the hook records by itself, and lists the records."""

from __future__ import annotations

import csv
import io
import json

import pytest


def taken(project, *arguments, **options):
    done = project.run("reflect", *arguments, "--json", **options)
    assert done.exit_code == 0, done.stderr
    return done.json()


def test_a_reflection_by_hand_contains_the_changes_and_the_self_report(project):
    project.write("src/auth.py", "x\n")
    found = taken(
        project, "--confidence", "0.5", "--most-likely-wrong", "auth", "no rate limit", "--known", "not tried on macOS",
        "--task-ref", "T-1", "--agent", "me", "--session", "mine",
    )  # fmt: skip
    record = found["reflection"]
    assert record["files_changed"] == ["src/auth.py"]
    assert record["most_likely_wrong"] == {"surface": "auth", "description": "no rate limit"}
    assert (record["confidence"], record["known_not_in_diff"]) == (0.5, "not tried on macOS")
    assert (record["task_ref"], record["agent"], record["session_id"]) == ("T-1", "me", "mine")
    assert record["provenance"] == {
        "source": "stop-hook", "reflection_attempt": 1, "degraded": False, "reflection_mode": "off"
    }  # fmt: skip
    plain = project.run("reflect", "show")
    assert "review needed" in plain.stdout
    assert "no rate limit" in plain.stdout


def test_three_points_are_separate_records_that_share_the_task(project):
    for point, confidence in (("before", "0.9"), ("after", "0.8"), ("adversarial", "0.4")):
        found = taken(project, "--point", point, "--confidence", confidence, "--task-ref", "T-1")
        assert found["point"] == point
        assert found["path"].endswith(f".{point}.capture.json")
    listed = project.run("reflect", "list", "--json").json()["reflections"]
    assert [(one["point"], one["reflection"]["confidence"]) for one in listed] == [
        ("before", 0.9), ("after", 0.8), ("adversarial", 0.4)
    ]  # fmt: skip
    assert {one["reflection"]["task_ref"] for one in listed} == {"T-1"}


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("before", "captured before the work"),
        ("after", "captured after the work"),
        ("adversarial", "captured after an adversarial question"),
    ],
)
def test_show_names_the_time_of_capture(project, point, said):
    taken(project, "--point", point)
    assert f"Z, {said}\n" in project.run("reflect", "show").stdout


def test_options_before_a_subcommand_apply_to_it(project, make_project):
    taken(project, "--session", "here")
    elsewhere = make_project({"a": "1\n"})
    before = elsewhere.run("reflect", "--project-root", str(project.root), "list")
    assert before.stdout.startswith("here-")
    found = elsewhere.run("reflect", "--project-root", str(project.root), "--json", "show").json()
    assert found["reflection"]["session_id"] == "here"
    assert len(elsewhere.run("reflect", "--project-root", str(project.root), "export").stdout.splitlines()) == 1
    assert project.run("reflect", "--json", "list").json()["unreadable"] == []
    # What stands nearer wins.
    both = project.run("reflect", "--project-root", str(elsewhere.root), "list", "--project-root", str(project.root))
    assert both.stdout.startswith("here-")


@pytest.mark.parametrize("option", [("--confidence", "0.5"), ("--session", "manual"), ("--known", "x")])
@pytest.mark.parametrize("subcommand", ["list", "show", "export"])
def test_options_that_cannot_apply_to_a_subcommand_are_refused(project, option, subcommand):
    taken(project)
    done = project.run("reflect", *option, subcommand)
    assert done.exit_code == 2
    assert f"`reflect {subcommand}` has no option {option[0]}" in done.stderr


def test_a_report_comes_from_a_file_or_from_standard_input(project):
    text = json.dumps({"confidence": 0.25, "most_likely_wrong": None, "known_not_in_diff": None})
    path = project.write("report.json", text)
    assert taken(project, "--report", str(path))["reflection"]["confidence"] == 0.25
    # A reflection by hand always records, even the second time.
    assert taken(project, "--report", str(path))["reflection"]["confidence"] == 0.25
    both = project.run("reflect", "--report", str(path), "--confidence", "0.5")
    assert both.exit_code == 2


def test_list_show_and_export_agree_and_name_unreadable_files(project):
    assert "no reflections yet" in project.run("reflect", "list").stdout
    assert project.run("reflect", "show").exit_code == 1
    taken(project, "--known", "first, with a comma\nand a line")
    taken(project, "--session", "other")
    (project.own / "reflections" / "bad-1.reflection.json").write_text('{"schema": "reflection.v2"}')
    listed = project.run("reflect", "list", "--json").json()
    assert [one["reflection"]["session_id"] for one in listed["reflections"]] == ["manual", "other"]
    assert [one["name"] for one in listed["unreadable"]] == ["bad-1.reflection.json"]
    assert "bad-1.reflection.json: not a reflection" in project.run("reflect", "list").stdout
    exported = project.run("reflect", "export")
    assert exported.exit_code == 0
    assert exported.stderr.startswith("skipped: bad-1.reflection.json: not a reflection: ")
    assert "bad-1" in project.run("reflect", "export", "--form", "csv").stderr
    lines = exported.stdout.splitlines()
    assert [json.loads(line)["reflection"] for line in lines] == [one["reflection"] for one in listed["reflections"]]
    rows = list(csv.DictReader(io.StringIO(project.run("reflect", "export", "--form", "csv").stdout)))
    assert [row["known_not_in_diff"] for row in rows] == ["first, with a comma\nand a line", ""]
    shown = project.run("reflect", "show", "manual-", "--json").json()
    assert shown["reflection"]["session_id"] == "manual"


@pytest.mark.parametrize("name", ["no-such", "", "m"])
def test_a_name_that_matches_no_or_several_records_is_refused(project, name):
    taken(project)
    taken(project)
    done = project.run("reflect", "show", name)
    assert done.exit_code == 1
    assert done.stderr.startswith("UNKNOWN_REFLECTION: ")
    assert "loopwright reflect list" in done.stderr


def test_an_unwritable_folder_is_a_typed_error(project):
    project.write(".loopwright/reflections", "a file where a folder should be")
    done = project.run("reflect")
    assert done.exit_code == 1
    assert done.stderr.startswith("STORAGE_FAILED: ")


def test_the_settings_decide_the_folder_of_reflections(project):
    project.write(".loopwright/config.toml", '[reflection]\ndir = "kept here"\nmode = "orchestrated"\n')
    found = taken(project)
    assert found["path"].startswith(str(project.root / "kept here"))
    assert found["reflection"]["provenance"]["reflection_mode"] == "orchestrated"
    assert len(project.run("reflect", "list", "--json").json()["reflections"]) == 1
