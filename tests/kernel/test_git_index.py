"""The bytes of git's index, before and after a rewrite; test_git.py and test_repositories.py let git read them."""

from __future__ import annotations

import hashlib
import os
import struct
import time

import pytest

from loopwright.kernel import git_index

TICK_NS = 20_000_000
MODE = 0o100644
ASSUME_VALID, EXTENDED = 0x8000, 0x4000
# Git reads a file with these times.
UNKNOWN = [0] * 6 + [MODE, 0, 0, 0]


def stat_of(path, mode=MODE):
    """What git notes about a file."""
    now = os.lstat(path)
    times = (*divmod(now.st_ctime_ns, 10**9), *divmod(now.st_mtime_ns, 10**9))
    return [field & 0xFFFFFFFF for field in (*times, now.st_dev, now.st_ino, mode, now.st_uid, now.st_gid, now.st_size)]


def entry(name, stat, flags=0, size=20):
    data = struct.pack(">10I", *stat) + b"i" * size + struct.pack(">H", flags | len(name))
    data += (b"\0\0" if flags & EXTENDED else b"") + name
    return data + b"\0" * (8 - len(data) % 8)


def index_of(*entries, version=2, extensions=b"", digest=hashlib.sha1):
    body = struct.pack(">4sII", b"DIRC", version, len(entries)) + b"".join(entries) + extensions
    return body + digest(body).digest()


def extension(name, data):
    return name + struct.pack(">I", len(data)) + data


@pytest.fixture
def tree(tmp_path):
    for name in ("a", "bb", "ccccccccc"):
        (tmp_path / name).write_text(name)
    return tmp_path


def moved(tree, data, unchanged=lambda _: True, object_format="sha1"):
    (tree / "index").write_bytes(data)
    git_index.move(tree / "index", tree, unchanged, object_format)
    return (tree / "index").read_bytes()


def test_unchanged_entries_get_the_times_of_the_copy_and_others_none(tree):
    stats = {name: [1] * 6 + [MODE, 1, 1, (tree / name).stat().st_size] for name in ("a", "bb", "ccccccccc")}
    before = index_of(*(entry(name.encode(), stat) for name, stat in stats.items()), entry(b"gone", [1] * 10))
    after = moved(tree, before, lambda path: path != b"bb")
    assert after == index_of(
        entry(b"a", stat_of(tree / "a")),
        entry(b"bb", UNKNOWN),
        entry(b"ccccccccc", stat_of(tree / "ccccccccc")),
        entry(b"gone", [0] * 6 + [1, 0, 0, 0]),
    )


@pytest.mark.parametrize(
    ("extensions", "kept"),
    [
        (b"", b""),
        (extension(b"REUC", b"other"), b""),
        (extension(b"TREE", b"trees"), extension(b"TREE", b"trees")),
        (extension(b"TREE", b""), extension(b"TREE", b"")),
        (
            extension(b"REUC", b"x") + extension(b"EOIE", b"yy") + extension(b"TREE", b"z") + extension(b"UNTR", b"zz"),
            extension(b"TREE", b"z"),
        ),
    ],
)
def test_of_the_extensions_only_the_trees_stay(tree, extensions, kept):
    stat = stat_of(tree / "a")
    assert moved(tree, index_of(entry(b"a", stat), extensions=extensions)) == index_of(
        entry(b"a", stat), extensions=kept
    )


def test_an_index_with_longer_digests_is_rewritten(tree):
    data = index_of(entry(b"a", stat_of(tree / "a"), size=32), digest=hashlib.sha256)
    assert moved(tree, data, object_format="sha256") == data


def test_git_looks_at_files_that_it_was_told_to_skip(tree):
    stat = stat_of(tree / "a")
    before = index_of(entry(b"a", stat, ASSUME_VALID), entry(b"bb", stat, EXTENDED), version=3)
    assert moved(tree, before) == index_of(entry(b"a", UNKNOWN), entry(b"bb", UNKNOWN))


@pytest.mark.parametrize(("later_ns", "trusted"), [(TICK_NS, False), (TICK_NS + 1, True)])
def test_a_file_is_trusted_if_it_is_older_than_the_index(tree, later_ns, trusted):
    index, stat = tree / "index", stat_of(tree / "a")
    index.write_bytes(index_of(entry(b"a", stat)))
    moment = (tree / "a").stat().st_ctime_ns + later_ns
    os.utime(index, ns=(moment, moment))
    git_index.trust_unchanged_files(index, tree, "sha1")
    assert index.read_bytes() == index_of(entry(b"a", stat if trusted else UNKNOWN))
    assert index.stat().st_mtime_ns <= time.time_ns() + 2 * 10**9


@pytest.mark.parametrize("field", [0, 1, 2, 3, 4, 5, 9])
def test_a_file_with_another_time_place_or_size_is_not_trusted(tree, field):
    index, stat = tree / "index", stat_of(tree / "a")
    stat[field] -= 1
    index.write_bytes(index_of(entry(b"a", stat)))
    moment = time.time_ns() + 10**10
    os.utime(index, ns=(moment, moment))
    git_index.trust_unchanged_files(index, tree, "sha1")
    assert index.read_bytes() == index_of(entry(b"a", UNKNOWN))
