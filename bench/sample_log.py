"""A made-up log as builds and tests print it: plain lines, JSON, hashes, stack traces, and now and then a secret.

The same for the same seed. This file contains no secret: secrets are made from the rules' own examples.
"""

from __future__ import annotations

import base64
import json
import random
import uuid
from collections.abc import Callable, Iterator

from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.examples import expand, hits_of

_WORDS = (
    "account", "address", "batch", "billing", "cache", "catalog", "client", "cluster", "config",
    "context", "customer", "database", "delivery", "engine",
    "event", "export", "filter", "gateway", "handler", "import", "index", "inventory", "invoice",
    "item", "job", "journal", "ledger", "locale", "login", "manager",
    "message", "metric", "module", "notify", "order", "parser", "payment", "pipeline", "planner",
    "product", "profile", "queue", "record", "report", "request",
    "response", "retry", "router", "schedule", "schema", "search", "server", "service", "session",
    "shipment", "signal", "stock", "storage", "stream", "table",
    "task", "template", "tenant", "thread", "token", "tracker", "transfer", "update", "upload",
    "user", "validate", "version", "view", "webhook", "worker",
)  # fmt: skip
_LEVELS = ("DEBUG", "INFO", "INFO", "INFO", "WARNING", "ERROR")
_SECRET_EVERY = 2000
_BLOCK_LINES = 2000

Source = random.Random
Maker = Callable[[Source], list[str]]


def blocks(seed: int) -> Iterator[bytes]:
    """Endless pieces of log, some 200 kB each."""
    source = random.Random(seed)
    hits = [hit for rule in SHIPPED_RULES for hit in hits_of(rule) if "\n" not in hit and "BEGIN" not in hit]
    while True:
        lines: list[str] = []
        while len(lines) < _BLOCK_LINES:
            lines += source.choices(_MAKERS, weights=_WEIGHTS)[0](source)
        for _ in range(max(1, len(lines) // _SECRET_EVERY)):
            secret = expand(source.choice(hits), source.randrange(1 << 30))
            lines.insert(source.randrange(len(lines)), f"{_stamp(source)} DEBUG env: {secret}")
        yield ("\n".join(lines) + "\n").encode()


def sample(size: int, seed: int = 1) -> bytes:
    """A log of this many bytes that ends with a whole line."""
    made = bytearray()
    for block in blocks(seed):
        made += block
        if len(made) >= size:
            break
    return bytes(made[: made.rfind(b"\n", 0, size) + 1])


def _name(source: Source) -> str:
    return "_".join(source.choices(_WORDS, k=source.randint(1, 3)))


def _path(source: Source) -> str:
    return "/".join(source.choices(_WORDS, k=source.randint(1, 4)))


def _hex(source: Source, length: int) -> str:
    return f"{source.getrandbits(length * 4):0{length}x}"


def _uuid(source: Source) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))


def _stamp(source: Source) -> str:
    clock = source.randrange(86_400_000)
    hours, minutes, seconds = clock // 3_600_000, clock // 60_000 % 60, clock // 1000 % 60
    return f"2026-03-{source.randint(1, 28):02d}T{hours:02d}:{minutes:02d}:{seconds:02d}.{clock % 1000:03d}Z"


def _pytest(source: Source) -> list[str]:
    percent = source.randint(1, 100)
    outcome = source.choices(("PASSED", "SKIPPED", "FAILED"), weights=(95, 4, 1))[0]
    return [
        f"tests/{_path(source)}/test_{_name(source)}.py::test_{_name(source)}_{_name(source)} {outcome} [{percent:3d}%]"
    ]


def _npm(source: Source) -> list[str]:
    version = ".".join(str(source.randint(0, 20)) for _ in range(3))
    package = f"@{source.choice(_WORDS)}/{source.choice(_WORDS)}-{source.choice(_WORDS)}"
    return source.choice(
        (
            [f"npm http fetch GET 200 https://registry.npmjs.example/{package} {source.randint(5, 900)}ms (cache hit)"],
            [f"npm WARN deprecated {package}@{version}: this version is no longer supported, please update"],
            [f"added {source.randint(1, 900)} packages, and audited {source.randint(900, 3000)} packages in 9s"],
            [f"  {package}@{version} -> node_modules/{source.choice(_WORDS)}/index.js"],
        )
    )


def _json(source: Source) -> list[str]:
    record = {
        "time": _stamp(source),
        "level": source.choice(_LEVELS).lower(),
        "service": _name(source),
        "request_id": _uuid(source),
        "path": f"/api/v2/{_path(source)}",
        "status": source.choice((200, 200, 200, 201, 204, 302, 404, 500)),
        "duration_ms": round(source.random() * 900, 2),
        "user": {"id": source.randrange(100_000), "roles": source.choices(_WORDS, k=2)},
        "message": " ".join(source.choices(_WORDS, k=source.randint(4, 12))),
    }
    return [json.dumps(record)]


def _plain(source: Source) -> list[str]:
    text = " ".join(source.choices(_WORDS, k=source.randint(4, 14)))
    logger, detail = f"{_name(source)}.{_name(source)}", f"({_name(source)}={source.randrange(10_000)})"
    return [f"{_stamp(source)} {source.choice(_LEVELS):7} {logger}: {text} {detail}"]


def _hashes(source: Source) -> list[str]:
    return source.choice(
        (
            [f"{_hex(source, 40)} refs/heads/{_name(source)}"],
            [f"sha256:{_hex(source, 64)}: Pulling fs layer"],
            [f"    --hash=sha256:{_hex(source, 64)} \\"],
            [f'"integrity": "sha512-{base64.b64encode(source.randbytes(64)).decode()}",'],
            [f"{_uuid(source)} {_hex(source, 12)} {_path(source)}.o"],
        )
    )


def _coded(source: Source) -> list[str]:
    return [base64.b64encode(source.randbytes(57)).decode() for _ in range(source.randint(1, 6))]


def _trace(source: Source) -> list[str]:
    frames: list[str] = []
    for _ in range(source.randint(3, 9)):
        frames += [
            f'  File "/srv/app/{_path(source)}.py", line {source.randint(1, 900)}, in {_name(source)}',
            f"    {_name(source)} = self.{_name(source)}({_name(source)}, {_name(source)}=None)",
        ]
    name = source.choice(("ValueError", "KeyError", "TimeoutError", "ConnectionError"))
    return ["Traceback (most recent call last):", *frames, f"{name}: {' '.join(source.choices(_WORDS, k=5))}"]


_MAKERS: tuple[Maker, ...] = (_pytest, _npm, _json, _plain, _hashes, _coded, _trace)
_WEIGHTS = (30, 10, 15, 25, 12, 4, 4)
