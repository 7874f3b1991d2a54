"""The places where secrets really leak: each context writes a name and a value as some program would.

A value that needs a name is written only where there is one; a header takes only names of headers.
"""

from __future__ import annotations

import json
import random
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass

from planted import Kind, Planted

Source = random.Random
_WIDTH = 80
_ALL = frozenset(Kind)
_ONE_LINE = _ALL - {Kind.BLOCK}
_SHORT = frozenset({Kind.BARE, Kind.NAMED})


@dataclass(frozen=True, slots=True)
class Written:
    """A text with a secret in it, the spellings of which nothing may be left, and the text without them."""

    text: str
    secrets: tuple[str, ...]
    around: str


@dataclass(frozen=True, slots=True)
class Context:
    """`encode` is how a value is spelled there, `frame` what stands around it, `spelled` what of it must go."""

    name: str
    encode: Callable[[str], str]
    frame: Callable[[str, str], str]
    kinds: frozenset[Kind] = _ONE_LINE
    takes: Callable[[Planted], bool] = lambda _: True
    spelled: Callable[[str], tuple[str, ...]] | None = None

    def write(self, planted: Planted) -> Written | None:
        """The secret as it would appear in this context; None if that makes no sense."""
        if planted.kind not in self.kinds or not self.takes(planted):
            return None
        spelled = self.spelled or (lambda secret: (self.encode(secret),))
        secrets = tuple(form for secret in planted.secrets for form in spelled(secret))
        without = planted.carrier
        for secret in planted.secrets:
            without = without.replace(secret, "")
        text, around = (self.frame(planted.name, self.encode(carrier)) for carrier in (planted.carrier, without))
        return Written(text, secrets, around)


def as_is(value: str) -> str:
    return value


def json_escaped(value: str) -> str:
    return json.dumps(value)[1:-1]


def twice_json_escaped(value: str) -> str:
    return json_escaped(json_escaped(value))


def shell_escaped(value: str) -> str:
    """As bash writes it between double quotes."""
    return re.sub(r'([\\"$`])', r"\\\1", value)


def single_quoted(value: str) -> str:
    """As Python and JavaScript write it between single quotes."""
    return value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")


def yaml_quoted(value: str) -> str:
    return value.replace("'", "''")


def url_quoted(value: str) -> str:
    return urllib.parse.quote(value, safe="")


def _environment(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", name).upper()


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", name).lower()


def _flag(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", name).lower()


def _camel(name: str) -> str:
    first, *rest = re.split(r"[^A-Za-z0-9]+", name.lower())
    return first + "".join(word.capitalize() for word in rest)


def _yaml(name: str, value: str) -> str:
    if "\n" not in value:
        return f"service:\n  {name.lower()}: '{yaml_quoted(value)}'\n  retries: 3\n"
    block = "".join(f"    {row}\n" for row in value.split("\n"))
    return f"service:\n  {name.lower()}: |\n{block}  retries: 3\n"


def _header(name: str, value: str) -> str:
    line = f"Authorization: Bearer {value}" if "-" not in name and name != "Authorization" else f"{name}: {value}"
    return f"> GET /v1/items HTTP/1.1\n> Host: api.example\n> {line}\n> Accept: */*\n"


def _is_header(planted: Planted) -> bool:
    return planted.kind is Kind.BARE or "-" in planted.name or planted.name == "Authorization"


def _log(name: str, value: str) -> str:
    return f"2026-03-04T05:06:07.123Z ERROR app.client: request failed: {name.lower()}={value} (attempt 2 of 3)\n"


def _traceback(name: str, value: str) -> str:
    return (
        'Traceback (most recent call last):\n  File "/srv/app/client.py", line 42, in connect\n'
        "    return self.session.open(**options)\n"
        f"TypeError: open() got unexpected options {{'retries': 3, '{name}': '{value}'}}\n"
    )


def _has_words(planted: Planted) -> bool:
    return planted.kind is Kind.NAMED and re.search(r"[A-Za-z0-9]_[A-Za-z]", planted.name) is not None


CONTEXTS: tuple[Context, ...] = (
    Context("env dump", as_is, lambda n, v: f"PATH=/usr/bin:/bin\n{_environment(n)}={v}\nLANG=C.UTF-8\n", _ALL),
    Context("export", shell_escaped, lambda n, v: f'export {_environment(n)}="{v}"\n', _ALL),
    Context("JSON", json_escaped, lambda n, v: f'{{"level": "info", "{n}": "{v}", "retries": 3}}\n', _ALL),
    Context("JSON, camelCase name", json_escaped, lambda n, v: f'{{"{_camel(n)}":"{v}"}}\n', takes=_has_words),
    Context(
        "JSON in JSON",
        twice_json_escaped,
        lambda n, v: f'{{"type":"tool_result","content":"{{\\"{n}\\":\\"{v}\\",\\"retries\\":3}}"}}\n',
        _ALL,
    ),
    Context("YAML", as_is, _yaml, _ALL),
    Context(
        "URL query",
        url_quoted,
        lambda n, v: f"GET https://api.example/v1/items?page=2&{_identifier(n)}={v}&lang=en 401\n",
        _SHORT,
    ),
    Context("HTTP header", as_is, _header, _SHORT, _is_header),
    Context("Python line", single_quoted, lambda n, v: f"client = connect('api.example', {_identifier(n)}='{v}')\n"),
    Context(
        "JavaScript line", single_quoted, lambda n, v: f"const options = {{ retries: 3, {_identifier(n)}: '{v}' }};\n"
    ),
    Context("log line", as_is, _log, _ALL),
    Context("traceback", single_quoted, _traceback, _ALL),
    Context("XML element", as_is, lambda n, v: f"  <{n}>{v}</{n}>\n"),
    Context("flag and value", as_is, lambda n, v: f"+ deploy --{_flag(n)} {v} --verbose\n", _SHORT),
    Context("flag=value", as_is, lambda n, v: f"+ deploy --{_flag(n)}={v} --verbose\n", _SHORT),
    Context("Dockerfile ENV", as_is, lambda n, v: f"Step 4/9 : ENV {_environment(n)} {v}\n"),
    Context("TOML", json_escaped, lambda n, v: f'[service]\n{_identifier(n)} = "{v}"\n'),
    Context("PHP array", single_quoted, lambda n, v: f"    '{_identifier(n)}' => '{v}',\n"),
    Context("Go struct", json_escaped, lambda n, v: f'\tcfg := Config{{{_camel(n)}: "{v}", Retries: 3}}\n'),
    Context("table in a terminal", as_is, lambda n, v: f"| {n:<28} | {v} | 2026-03-04 |\n"),
)
PLAIN = next(context for context in CONTEXTS if context.name == "log line")


def cut(data: bytes, source: Source) -> list[bytes]:
    """The data in pieces of random length, as a slow pipe gives it."""
    pieces: list[bytes] = []
    at = 0
    while at < len(data):
        size = source.randint(1, 40)
        pieces.append(data[at : at + size])
        at += size
    return pieces


def fold(written: Written, source: Source) -> Written | None:
    """The line as a terminal of 80 columns hard-wraps it, shifted so that a break falls into the secret."""
    text, secret = written.text, written.secrets[0]
    at = text.find(secret)
    if at < 0 or "\n" in text.rstrip("\n") or len(secret) < 16:
        return None
    inside = source.randint(4, min(len(secret), _WIDTH) - 4)
    line = "." * ((_WIDTH - inside - at) % _WIDTH) + text
    rows = "\n".join(line[i : i + _WIDTH] for i in range(0, len(line), _WIDTH))
    return Written(rows + "\n", written.secrets, written.around)


def bury(written: Written, border: int, source: Source) -> list[bytes]:
    """The line within one of 300 kB without a line break, so that the secret lies across the border."""
    line, secret = written.text.rstrip("\n").encode(), written.secrets[0].encode()
    before = border - line.find(secret) - source.randint(1, len(secret) - 1)
    whole = b"a b." * (before // 4) + b"." * (before % 4) + line + b" a b" * 10_000
    return [whole[at : at + 65_536] for at in range(0, len(whole), 65_536)]
