"""Patches are kept only without secrets: none of their bytes reaches the run's folder."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from tests.runner.conftest import KEY, STOPPING

from loopwright.errors import StorageFailed
from loopwright.kernel.digest import sha256
from loopwright.runner import patch as module
from loopwright.runner.draft import EvidenceDraft
from loopwright.runner.patch import in_binaries, keep_base_patch, keep_patch, write_screened
from loopwright.runner.request import Environment
from loopwright.sandbox.model import BaseTree
from loopwright.sandbox.port import Changes

STAGED = Changes("staged", ())
PRAGMA = "# pragma: allowlist-secret why=TEST_VECTOR"


class Recorder:
    """Records the same patch every time."""

    def __init__(self, *pieces, binaries=None, base=None, whole=True):
        self.pieces, self.binaries, self.whole, self.asked = pieces, binaries or {}, whole, []
        self._base = base

    def base(self):
        return self._base

    def record(self, write, *, staged=None):
        self.asked.append(staged)
        for piece in self.pieces:
            write(piece.encode())
        return Changes("tree", ("left",))

    def write_base_patch(self, write, limit):
        self.asked.append(limit)
        self.record(write)
        return self.whole

    def changed_files(self):
        return ("a", "b")

    def binary_files(self):
        return tuple(self.binaries)

    def content(self, path):
        return self.binaries[path]


@pytest.fixture
def keep(tmp_path, redactor):
    """Keep a patch; returns the draft and the run's folder."""
    run = tmp_path / "run"
    run.mkdir()

    def keep(recorder, *staged, by=keep_patch):
        draft = EvidenceDraft(datetime(2026, 1, 1, tzinfo=UTC), Environment({}, ()))
        sandbox = SimpleNamespace(place=SimpleNamespace(folder=tmp_path), recorder=recorder)
        by(SimpleNamespace(path=run), sandbox, redactor, draft, *staged)
        assert {path.name for path in tmp_path.iterdir()} == {"run"}, "nothing is left in the sandbox's folder"
        return draft, run

    return keep


def test_a_patch_is_kept_with_its_digest(keep):
    recorder = Recorder("+one\n", "+two\n")
    draft, run = keep(recorder, STAGED)
    kept = (run / "changes.patch").read_bytes()
    assert (kept, draft.patch_sha256) == (b"+one\n+two\n", sha256(kept))
    assert (draft.result_tree, draft.changed, draft.left_out) == ("tree", ("a", "b"), ("left",))
    assert (draft.findings, draft.patch_findings, draft.notes) == ([], [], [])
    assert recorder.asked == [STAGED]
    keep(recorder)
    assert recorder.asked == [STAGED, None]


def test_a_line_with_a_pragma_may_contain_a_test_vector(keep):
    draft, run = keep(Recorder(f"+{STOPPING}  {PRAGMA}\n"))
    assert STOPPING.encode() in (run / "changes.patch").read_bytes()
    assert draft.findings == []


@pytest.mark.parametrize("secret", [KEY, STOPPING])
def test_a_patch_with_a_secret_is_not_kept(keep, secret):
    draft, run = keep(Recorder("+one\n", f"+{secret}\n", "+three\n"))
    assert list(run.iterdir()) == []
    assert (draft.result_tree, draft.patch_sha256, draft.changed) == (None, None, ("a", "b"))
    (finding,) = draft.findings
    assert (draft.patch_findings, finding.source, finding.line) == ([finding], "changes.patch", 2)
    assert draft.notes == ["the patch is not kept: it contains a secret"]


def test_a_binary_file_with_a_secret_drops_the_patch(keep):
    draft, run = keep(Recorder("+one\n", binaries={b"caf\xe9.bin": f"\0{STOPPING} {PRAGMA}".encode(), b"b": b"x"}))
    assert list(run.iterdir()) == []
    assert [finding.source for finding in draft.patch_findings] == [r"caf\xe9.bin"], "no pragma counts in a binary file"


def test_binary_files_are_searched_up_to_a_limit(monkeypatch, redactor):
    monkeypatch.setattr(module, "_BINARY_LIMIT", 10)
    recorder = Recorder(binaries={b"a": b"0123456789 " + STOPPING.encode()})
    assert in_binaries(recorder, redactor) == []
    assert module._BASE_LIMIT == 64 << 20


def test_after_a_secret_a_file_gets_no_more_bytes(tmp_path, redactor):
    path, sizes = tmp_path / "f", []

    def fill(write):
        write(f"{STOPPING}\n".encode())
        for _ in range(5):
            write(b"more\n" * 10**5)
            sizes.append(path.stat().st_size)
        return "result"

    result, findings = write_screened(path, "source", redactor, fill)
    assert (result, [finding.source for finding in findings]) == ("result", ["source"])
    assert b"more" not in path.read_bytes()


def test_a_file_that_can_not_be_written_is_an_error(tmp_path, redactor):
    with pytest.raises(StorageFailed):
        write_screened(tmp_path / "missing" / "f", "s", redactor, lambda write: write(b""))


def test_a_file_is_complete_even_if_filling_it_fails(tmp_path, redactor):
    def fill(write):
        write(b"begun")
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 -- its own
        write_screened(tmp_path / "f", "s", redactor, fill)
    assert (tmp_path / "f").read_bytes() == b"begun"


CHANGED = BaseTree("commit", "tree", is_commit=False)


@pytest.mark.parametrize(
    ("base", "is_kept"),
    [(CHANGED, True), (BaseTree("c", "t", is_commit=True), False), (BaseTree(None, "t", is_commit=False), False)],
)
def test_uncommitted_changes_are_kept_if_there_are_any(keep, base, is_kept):
    recorder = Recorder("+one\n", base=base)
    draft, run = keep(recorder, by=keep_base_patch)
    assert (run / "base.patch").exists() == is_kept
    assert draft.files == ({"base.patch": sha256(b"+one\n")} if is_kept else {})
    assert recorder.asked == ([64 << 20, None] if is_kept else [])
    assert draft.notes == []


@pytest.mark.parametrize(
    ("pieces", "whole", "note"),
    [
        (f"+{STOPPING}\n", True, "not kept: they contain a secret"),
        (f"+{STOPPING}\n", False, "not kept: they contain a secret"),
        ("+one\n", False, "too large to keep"),
    ],
)
def test_uncommitted_changes_with_a_secret_or_too_large_are_not_kept(keep, pieces, whole, note):
    draft, run = keep(Recorder(pieces, base=CHANGED, whole=whole), by=keep_base_patch)
    assert (list(run.iterdir()), draft.files) == ([], {})
    (said,) = draft.notes
    assert note in said
    assert "rerun needs them unchanged" in said
