from __future__ import annotations

import pytest

from loopwright.analysis.board_history import analyse_task_files
from loopwright.analysis.history import Window
from loopwright.analysis.model import NotEnoughData, Passed
from loopwright.analysis.preregistered import TASK_FILES
from loopwright.analysis.task_files import read_task_files
from loopwright.errors import GitFailed

START, DAY = 1_700_000_000, 86_400
LATER = START + 400 * DAY


@pytest.fixture
def completions(story, read):
    def of():
        reading = read(story.path)
        found, seen = read_task_files(reading.history, reading.past.tips, TASK_FILES.globs)
        return [((one.completed - START) // DAY, [(at - START) // DAY for at in one.reopened]) for one in found], seen

    return of


def test_a_ticked_box_is_a_completed_task_and_an_unticked_one_is_open_again(story, completions):
    story.commit("plan", {"tasks.md": "# Tasks\n- [ ] one\n* [ ] two\n1. [ ] three\n"}, day=0)
    story.commit("work", {"tasks.md": "# Tasks\n- [x] one\n* [X] two\n1. [ ] three\n"}, day=2)
    story.commit("oh", {"tasks.md": "# Tasks\n- [ ] one\n* [X] two\n1. [ ] three\n"}, day=5)
    story.commit("again", {"tasks.md": "# Tasks\n- [x] one\n* [X] two\n"}, day=7)
    assert completions() == ([(2, [5]), (2, []), (7, [])], 3)


def test_moving_and_rewording_around_it_completes_nothing_twice(story, completions):
    story.commit("plan", {"openspec/changes/x/tasks.md": "- [ ] one\n- [ ] two\n"}, day=0)
    story.commit("work", {"openspec/changes/x/tasks.md": "- [x] one\n- [ ] two\n"}, day=1)
    story.commit(
        "archive",
        {"openspec/changes/x/tasks.md": None, "openspec/changes/archive/x/tasks.md": "intro\n- [x] one\n- [x] two\n"},
        day=2,
    )
    story.commit("prose", {"openspec/changes/archive/x/tasks.md": "other\n\n- [x] one\n- [x] two\n"}, day=3)
    assert completions() == ([(1, []), (2, [])], 2)


def test_the_same_text_in_two_files_is_two_tasks(story, completions):
    story.commit("plan", {"a/tasks.md": "- [ ] test\n", "b/tasks.md": "- [ ] test\n"}, day=0)
    story.commit("work", {"a/tasks.md": "- [x] test\n"}, day=1)
    story.commit("work", {"b/tasks.md": "- [x] test\n"}, day=2)
    assert completions() == ([(1, []), (2, [])], 2)


def test_a_status_line_and_a_folder_for_what_is_done(story, completions):
    story.commit("plan", {"tasks/1.md": "---\nstatus: open\n---\n", "backlog/todo/2.md": "do it\n"}, day=0)
    story.commit("one", {"tasks/1.md": '---\r\nstatus: "Done"\r\n---\r\n'}, day=1)
    story.commit("two", {"backlog/todo/2.md": None, "backlog/done/2.md": "do it\n"}, day=2)
    story.commit("oh", {"tasks/1.md": "---\nstatus: in progress\n---\n"}, day=3)
    assert completions()[0] == [(1, [3]), (2, [])]


def test_content_that_imitates_git_is_content(story, completions):
    evil = "\0" + "0" * 24 + " " + "a" * 40 + " 5\ndiff --git a/x b/x\n--- a/tasks.md\n@@ -1 +1 @@\n+- [x] fake\n"
    story.commit("plan", {"tasks.md": "- [ ] one\n" + "filler\n" * 2000}, day=0)
    story.commit("work", {"tasks.md": "- [x] one\n" + "filler\n" * 2000 + evil}, day=1)
    assert completions() == ([(1, [])], 1)


def test_tests_fixes_reverts_and_reopening_are_signals(story, read):
    day = 0
    boxes = [f"task {number}" for number in range(15)]
    for number in range(15):
        listed = "".join(f"- [{'x' if other <= number else ' '}] {text}\n" for other, text in enumerate(boxes))
        files = {"tasks.md": listed, f"f{number}.py": "1\n"}
        if number < 5:
            files[f"tests/test_f{number}.py"] = "1\n"
        story.commit(f"feat: {number}", files, day=day)
        if 5 <= number < 8:
            story.commit(f"fix: {number}", {f"f{number}.py": "2\n"}, day=day + 1)
        day += 10
    parts = analyse_task_files(read(story.path).history, Window(), LATER, TASK_FILES.globs)
    found = parts.findings
    assert (found.tasks, found.completed, found.decided) == (15, 15, 15)
    assert (found.with_signal, found.right, found.wrong) == (8, 5, 3)
    assert found.signals == {"a test landed with it": 5, "reverted or fixed": 3}
    assert isinstance(parts.verdict, Passed)


def test_a_fix_to_the_list_of_tasks_itself_is_no_signal(story, read):
    story.commit("plan", {"tasks.md": "- [ ] one\n"}, day=0)
    story.commit("done", {"tasks.md": "- [x] one\n"}, day=1)
    story.commit("fix: typo", {"tasks.md": "- [x] one\n- [ ] two\n"}, day=2)
    found = analyse_task_files(read(story.path).history, Window(), LATER, TASK_FILES.globs).findings
    assert (found.completed, found.with_signal) == (1, 0)


def test_other_globs_and_no_task_files(story, read):
    story.commit("plan", {"work/list.txt": "- [x] one\n"}, day=0)
    none = analyse_task_files(read(story.path).history, Window(), LATER, TASK_FILES.globs)
    assert isinstance(none.verdict, NotEnoughData)
    assert analyse_task_files(read(story.path).history, Window(), LATER, ("work/*.txt",)).findings.completed == 1


def test_an_empty_repository_has_no_tasks(story, read):
    parts = analyse_task_files(read(story.path).history, Window(), LATER, TASK_FILES.globs)
    assert isinstance(parts.verdict, NotEnoughData)


def test_a_clone_without_contents_says_what_to_do(story, read, tmp_path):
    story.commit("plan", {"tasks.md": "- [x] one\n"}, day=0)
    story.git("config", "uploadpack.allowFilter", "true")
    story.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{story.path}", str(tmp_path / "partial"))
    with pytest.raises(GitFailed, match="lacks the contents") as raised:
        analyse_task_files(read(tmp_path / "partial").history, Window(), LATER, TASK_FILES.globs)
    assert "board-history FILE" in raised.value.hint
