"""How fast a realistic log is redacted, whether the time is linear, and how much memory it takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings

from loopwright.redaction.build import build_redactor
from loopwright.workspace.settings_model import SecretsSettings
from measure import Way, medians, run, say, timed
from report import Row, verdict
from sample_log import sample
from workspace import bare_environment

_CHUNK = 64 << 10
_MEGABYTE = 1_000_000
_THEIR_SAMPLE = 500_000
_ROUNDS = 3
_STREAM_MB = 1000
_MEMORY_LIMIT_MB = 300


def measure(folder: Path) -> Iterator[Row]:
    say("  making a log …")
    log = sample(100 * _MEGABYTE)
    yield _throughput(folder, log)
    yield _growth(log)
    del log
    yield _memory(folder)


def _throughput(folder: Path, log: bytes) -> Row:
    small, large = log[:_THEIR_SAMPLE], log[: 10 * _MEGABYTE]
    file = folder / "sample.log"
    file.write_bytes(small[: small.rfind(b"\n") + 1])
    ways = [
        Way("detect-secrets, 0.5 MB", lambda: timed(lambda: _scan(file))),
        Way("loopwright, 10 MB", lambda: timed(lambda: _redact(large))),
    ]
    theirs_s, ours_s = medians("redaction", ways, _ROUNDS)
    theirs = file.stat().st_size / _MEGABYTE / theirs_s
    ours = len(large) / _MEGABYTE / ours_s
    return Row(
        "redaction of a log, throughput",
        ">= 10 x detect-secrets",
        f"{ours / theirs:.1f} x",
        verdict(ours >= 10 * theirs),
        f"{ours:.1f} MB/s",
        f"detect-secrets: {theirs:.2f} MB/s",
    )


def _growth(log: bytes) -> Row:
    short = log[: 10 * _MEGABYTE]
    ways = [
        Way("10 MB", lambda: timed(lambda: _redact(short))),
        Way("100 MB", lambda: timed(lambda: _redact(log))),
    ]
    small_s, large_s = medians("redaction", ways, _ROUNDS)
    small, large = small_s / len(short) * _MEGABYTE, large_s / len(log) * _MEGABYTE
    ratio = large / small
    return Row(
        "redaction, time for a MB of 100 MB against one of 10 MB",
        "0.7 to 1.3 x",
        f"{ratio:.2f} x",
        verdict(0.7 <= ratio <= 1.3),
        f"{large * 1000:.1f} ms/MB",
        f"10 MB: {small * 1000:.1f} ms/MB",
    )


def _memory(folder: Path) -> Row:
    env = bare_environment(folder / "home")
    child = Path(__file__).with_name("redact_stream.py")

    def peak_mb(megabytes: int) -> float:
        say(f"  redaction: a stream of {megabytes} MB …")
        given, taken, findings, peak = map(
            int, run((sys.executable, child, str(megabytes)), cwd=folder, env=env).split()
        )
        if not findings or taken < given // 2:
            raise SystemExit(f"{taken} of {given} bytes came out, with {findings} findings")
        return peak * 1024 / _MEGABYTE

    short, long = peak_mb(_STREAM_MB // 100), peak_mb(_STREAM_MB)
    return Row(
        f"redaction of a stream of {_STREAM_MB} MB, peak memory",
        f"<= {_MEMORY_LIMIT_MB} MB",
        f"{long:.0f} MB",
        verdict(long <= _MEMORY_LIMIT_MB),
        f"{long:.0f} MB",
        f"stream of {_STREAM_MB // 100} MB: {short:.0f} MB",
    )


def _redact(log: bytes) -> None:
    """Redact the log like a command's output, in the pieces of a pipe."""
    stream = build_redactor(SecretsSettings(), {}).stream("bench")
    for at in range(0, len(log), _CHUNK):
        stream.feed(log[at : at + _CHUNK])
    stream.finish()
    if not stream.findings:
        raise SystemExit("the log contains secrets, but none was found")


def _scan(file: Path) -> None:
    """Scan with default plugins, by file: the call for one line repeats its setup each time."""
    with default_settings():
        if not list(scan_file(str(file))):
            raise SystemExit("detect-secrets found nothing")
