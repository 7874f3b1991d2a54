"""Log files: limited, with the digest of what is on disk, and with the last lines at hand."""

from __future__ import annotations

import hashlib

import pytest

from loopwright.errors import StorageFailed
from loopwright.evidence.logs import LogFile
from loopwright.redaction.model import seal


@pytest.fixture
def log(tmp_path):
    made = LogFile(tmp_path / "a.log", 10)
    yield made
    made.close()


def test_a_log_has_the_size_and_the_digest_of_its_file(log):
    for piece in (b"one\n", b"", b"two\n"):
        log.write(seal(piece))
    log.close()
    log.close()
    assert log.path.read_bytes() == b"one\ntwo\n"
    assert (log.size, log.sha256) == (8, hashlib.sha256(b"one\ntwo\n").hexdigest())


@pytest.mark.parametrize(
    ("pieces", "kept", "dropped"),
    [
        ([b"0123456789"], b"0123456789", 0),
        ([b"0123456789a"], b"0123456789", 1),
        ([b"01234567", b"89abc", b"de"], b"0123456789", 5),
    ],
    ids=["exactly the limit", "one byte more", "in pieces"],
)
def test_output_beyond_the_limit_is_counted(log, pieces, kept, dropped):
    for piece in pieces:
        log.write(seal(piece))
    log.close()
    note = f"\n[loopwright: {dropped} more bytes were printed and are not kept]\n" if dropped else ""
    assert log.path.read_bytes() == kept + note.encode()
    assert log.sha256 == hashlib.sha256(log.path.read_bytes()).hexdigest()
    assert log.size == log.path.stat().st_size
    assert log.tail().data == b"".join(pieces)


def test_output_of_two_streams_never_shares_a_line(log):
    out, err = object(), object()
    for stream, piece in ((out, b"a"), (out, b"b"), (err, b""), (err, b"c\n"), (out, b"d\n"), (err, b"e")):
        log.write_from(stream, seal(piece))
    assert log.path.read_bytes() == b"ab\nc\nd\ne"


def test_the_last_lines_are_at_hand(log):
    assert log.last_lines(2).data == b""
    log.write(seal(b"one\ntwo\nthree"))
    assert log.last_lines(2).data == b"two\nthree"
    log.write(seal(b"x" * (64 << 10)))
    assert log.tail().data == b"x" * (64 << 10)


def test_a_log_is_never_overwritten(log):
    with pytest.raises(StorageFailed):
        LogFile(log.path, 10)
