"""The caller's own values: made-up passwords and keys, in the encodings in which programs print them."""

from __future__ import annotations

import base64
import random
import string

from contexts import Context, as_is, json_escaped, shell_escaped, url_quoted
from loopwright.redaction.environment_values import ENVIRONMENT_RULE
from planted import Kind, Planted

NAME = "SERVICE_PASSWORD"
_ODD = string.ascii_letters + string.digits + string.punctuation
# Alphabet, shortest and longest length, as people and generators make them.
_SHAPES = (
    (string.ascii_letters + string.digits, 8, 12),
    (string.ascii_letters + string.digits, 20, 40),
    (string.ascii_letters + string.digits + "+/", 40, 88),
    (_ODD, 12, 24),
    (_ODD + " ", 16, 32),
    (string.ascii_letters + "äöüßéñ漢字", 12, 20),
    (_ODD, 70, 120),
)


def plant_own(number: int, seed: int) -> Planted:
    """The `number`th value; the shapes are used in turn."""
    alphabet, shortest, longest = _SHAPES[number % len(_SHAPES)]
    source = random.Random(f"own:{seed}:{number}")
    value = "x" + "".join(source.choices(alphabet, k=source.randint(shortest, longest) - 2)) + "y"
    return Planted(ENVIRONMENT_RULE, Kind.BARE, NAME.lower(), value, (value,))


def _base64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _rows(value: str) -> str:
    return base64.encodebytes(value.encode()).decode()


def _is_long(planted: Planted) -> bool:
    return len(planted.carrier.encode()) > 57


# Both prefixes end on a group of three bytes, except one: then the rest encodes only the value.
_USER = "deploy:"
_TEXT = "name=deploy;" * 4
_FIRST_OF_USER, _FIRST_OF_TEXT = 12, 64
SPLIT_BASE64 = "base64 within a longer text, lines of 76"

ENCODED: tuple[Context, ...] = (
    Context("base64", _base64, lambda _, v: f"data: {v}\n"),
    Context("base64url", lambda v: base64.urlsafe_b64encode(v.encode()).decode(), lambda _, v: f"data: {v}\n"),
    Context(
        "base64 of user:value",
        lambda v: _base64(_USER + v),
        lambda _, v: f"Authorization: Basic {v}\n",
        spelled=lambda v: (_base64(_USER + v)[_FIRST_OF_USER:],),
    ),
    Context("base64, lines of 76", _rows, lambda _, v: v, takes=_is_long, spelled=lambda v: tuple(_rows(v).split())),
    Context(
        SPLIT_BASE64,
        lambda v: _rows(_TEXT + v),
        lambda _, v: v,
        spelled=lambda v: tuple(row for row in _rows(_TEXT + v)[_FIRST_OF_TEXT:].split() if len(row) >= 8),
    ),
    Context("hex", lambda v: v.encode().hex(), lambda _, v: f"data: {v}\n"),
    Context("percent-encoded", url_quoted, lambda _, v: f"POST /login body=user%3Ddeploy%26password%3D{v}\n"),
    Context("JSON, slashes escaped", lambda v: json_escaped(v).replace("/", "\\/"), lambda n, v: f'{{"{n}":"{v}"}}\n'),
    Context("bash -x", lambda v: v.replace("'", "'\\''"), lambda _, v: f"+ login '{v}'\n"),
    Context("declare -x", shell_escaped, lambda n, v: f'declare -x {n.upper()}="{v}"\n'),
    Context("within a word", as_is, lambda _, v: f"prefix{v}suffix\n"),
)
