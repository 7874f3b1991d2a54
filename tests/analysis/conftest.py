"""Repositories written commit by commit, with days instead of dates."""

from __future__ import annotations

import subprocess

import pytest

from loopwright.analysis.changes import changes_of
from loopwright.analysis.history import Window, read_past
from loopwright.analysis.model import AnalysisResult
from loopwright.analysis.preregistered import KILL, current_digest
from loopwright.analysis.signals import find_failures
from loopwright.kernel.git_history import open_history

START = 1_700_000_000
DAY = 86_400


class Story:
    """A repository; every commit says on which day it was made."""

    def __init__(self, path, *arguments):
        self.path = path
        self.git("init", "-q", "-b", "main", *arguments, str(path), cwd=path.parent)

    def git(self, *arguments, cwd=None, stdin=b""):
        done = subprocess.run(["git", *arguments], cwd=cwd or self.path, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(self, message, files=None, *, day=0.0, branch="main", start=None, merge=None):
        """A commit on a branch; content None deletes; returns its id."""
        message = message if isinstance(message, bytes) else message.encode()
        head = subprocess.run(
            ["git", "rev-parse", "-q", "--verify", f"refs/heads/{branch}"],
            cwd=self.path,
            capture_output=True,
            check=False,
        ).stdout.strip()
        lines = [b"commit refs/heads/%s" % branch.encode(), b"committer t <t@localhost> %d +0000" % (START + day * DAY)]
        lines += [b"data %d" % len(message), message]
        if start or head:
            lines.append(b"from " + (start.encode() if start else head))
        if merge:
            lines.append(b"merge " + merge.encode())
        for given, content in (files or {}).items():
            name = given if isinstance(given, bytes) else given.encode()
            if content is None:
                lines.append(b"D " + name)
            else:
                data = content.encode()
                lines += [b"M 100644 inline " + name, b"data %d" % len(data), data]
        self.git("fast-import", "--quiet", "--force", stdin=b"\n".join(lines) + b"\n\n")
        return self.git("rev-parse", f"refs/heads/{branch}")


class Reading:
    """A repository read as the analyses read it."""

    def __init__(self, path, scratch, window=None):
        self.history = open_history(path, scratch)
        self.past = read_past(self.history, window or Window())
        self.changes = changes_of(self.past.commits, self.past.tips[0] if self.past.tips else "")
        self.signals = find_failures(self.changes)

    @property
    def failures(self):
        return [(failure.kind, failure.gate, failure.culprit) for failure in self.signals.failures]


@pytest.fixture
def make_result():
    def make(parts):
        return AnalysisResult(
            kill=KILL[parts.question],
            verdict=parts.verdict,
            question=parts.question,
            findings=parts.findings,
            notes=parts.notes,
            inputs=parts.inputs,
            parameters=parts.parameters,
            at="2026-01-02T03:04:05Z",
            preregistration=current_digest(),
            tool_version="1",
        )

    return make


@pytest.fixture
def make_story(tmp_path):
    made = []

    def make(*arguments):
        made.append(Story(tmp_path / f"story-{len(made)}", *arguments))
        return made[-1]

    return make


@pytest.fixture
def story(make_story):
    return make_story()


@pytest.fixture
def read(tmp_path):
    count = []

    def read_story(path, window=None):
        count.append(1)
        scratch = tmp_path / f"scratch-{len(count)}"
        scratch.mkdir()
        return Reading(path, scratch, window)

    return read_story
