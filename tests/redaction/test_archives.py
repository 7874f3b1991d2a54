"""A secret in an archive is found, whether it is packed or stored, and in a truncated archive, too."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from loopwright.redaction import archives
from loopwright.redaction.archives import members
from loopwright.redaction.build import build_redactor
from loopwright.redaction.examples import expand
from loopwright.workspace.settings_model import SecretsSettings

TOKEN = expand("ghp_<alnum:36>", 5).encode()
REDACTOR = build_redactor(SecretsSettings(), {})


def zipped(content, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("first.txt", "nothing to hide")
        archive.writestr("notes.txt", content)
    return file.getvalue()


def streamed(content):
    """A zip written to a pipe: its headers give no sizes."""

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def tell(self):
            raise OSError

    file = Pipe()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("notes.txt", content)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [zipped(TOKEN), zipped(TOKEN, zipfile.ZIP_DEFLATED), zipped(TOKEN)[:160], streamed(TOKEN),
     b"#!/bin/sh\nexec tail\n" + zipped(TOKEN)],
    ids=["stored", "packed", "truncated", "streamed", "after a script"],
)  # fmt: skip
def test_a_token_in_a_zip_is_found_and_hidden(data):
    scanned = REDACTOR.scan(data, "a.zip", trusts_pragma=False)
    assert [(finding.rule, finding.source) for finding in scanned.findings] == [
        ("github-personal-token", "a.zip!notes.txt")
    ]
    assert TOKEN not in scanned.clean.data


def test_a_token_in_a_gzip_file_is_found():
    scanned = REDACTOR.scan(gzip.compress(b"token " + TOKEN), "a.gz", trusts_pragma=False)
    assert [finding.source for finding in scanned.findings] == ["a.gz!gzip"]


def tarred(mode):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        member = tarfile.TarInfo("notes.txt")
        member.size = len(TOKEN)
        archive.addfile(member, io.BytesIO(TOKEN))
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [zipped(TOKEN, zipfile.ZIP_BZIP2), zipped(TOKEN, zipfile.ZIP_LZMA), zipped(zipped(TOKEN, zipfile.ZIP_DEFLATED)),
     gzip.compress(zipped(gzip.compress(b"\n" + TOKEN), zipfile.ZIP_DEFLATED)), tarred("w"), tarred("w:gz"),
     tarred("w:bz2"), tarred("w:xz"), gzip.compress(b"first\n") + gzip.compress(TOKEN), bz2.compress(TOKEN),
     lzma.compress(TOKEN), gzip.compress(TOKEN + bytes(range(256)) * 900)[:600]],
    ids=["zip with bzip2", "zip with LZMA", "zip in zip", "gzip in zip in gzip", "tar", "tar.gz", "tar.bz2", "tar.xz",
         "two gzip streams", "bzip2", "xz", "truncated gzip"],
)  # fmt: skip
def test_a_token_in_other_archives_is_found_and_hidden(data):
    scanned = REDACTOR.scan(data, "a", trusts_pragma=False)
    assert {finding.rule for finding in scanned.findings} == {"github-personal-token"}
    assert TOKEN not in scanned.clean.data


@pytest.mark.parametrize(
    "data",
    [b"", b"BZh9", b"\xfd7zXZ\x00", b"PK\x03\x04", b"PK\x03\x04" + b"\xff" * 40, b"\x1f\x8b\x08 no gzip", b"text"],
)
def test_data_that_only_begins_like_an_archive_has_no_content(data):
    assert not any(content for _, content in members(data))


def test_a_bomb_is_unpacked_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(archives, "_MOST_UNPACKED", 1000)
    bomb = zipped(b"\0" * 1_000_000, zipfile.ZIP_DEFLATED)
    assert sum(len(content) for _, content in members(bomb)) <= 1000
