"""Lends an agent's program a copy of the user's login in its private home, and brings refreshed tokens back.

Tokens rotate: a refresh that stayed in the sandbox would log the user out. A refreshed login must have the same fields
as the lent one. It never overwrites a newer login of the user's own program.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from loopwright.agents.needs import MOST_BYTES, Credential, Needs, logins_in
from loopwright.agents.private_files import private_folder, write_private_file
from loopwright.errors import StorageFailed
from loopwright.kernel.codec import json_object
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import read_head, read_regular_file, write_durably
from loopwright.kernel.locks import locked
from loopwright.redaction.secret_names import looks_secret

_SHORTEST_SECRET = 20
_JWT_PARTS = 3
_MOST_REFRESHED = 32
# No token is longer, and longer secrets would slow the redactor down.
_LONGEST_SECRET = 16 << 10
_MOST_MORE_BYTES = 64 << 10
# Masking such a text could mask a number, or parts of the document around it: the result would be unreadable.
_NO_TOKEN = re.compile(r"""["'`{}\[\],\\\x00-\x1f\x7f]|^[0-9.eE+-]{20,}$""")
# Fields, by their last word, that name the server of a login: a change would send the login to another server.
_SAYS_WHERE = re.compile(r"(?:url|uri|host|hostname|endpoint|domain|base|server|address|metadata)s?$", re.IGNORECASE)


class _Noted(msgspec.Struct, frozen=True):
    """The record of a lent credential: after a crash, the next turn brings the credential back with this record."""

    sha256: str
    credential: Credential


def lend(needs: Needs, environment: Mapping[str, str], home: Path) -> None:
    """Copy the user's credential files into the private home, after `take_back` of the leftovers of a crashed turn."""
    take_back(needs, environment, home)
    for credential in needs.credentials:
        source = credential.source(environment)
        if source is None:
            continue
        try:
            data = _part(read_regular_file(source, most=MOST_BYTES), credential.entries)
        except (OSError, ValueError, RecursionError):
            continue
        if data:
            _note(home, credential, data)
            write_private_file(_copy(home, credential), data)


def take_back(needs: Needs, environment: Mapping[str, str], home: Path) -> None:
    """Bring refreshed credentials back and remove all copies. Does nothing if none were lent."""
    for credential in (*needs.credentials, *_others_lent(needs, home)):
        copy = _copy(home, credential)
        source = credential.source(environment)
        try:
            data, is_longer = read_head(copy, MOST_BYTES)
        except OSError:
            data, is_longer = b"", False
        if source is not None and data and not is_longer:
            # If the user's file is not writable, it stays as it is; the program's next turn refreshes again.
            with suppress(OSError, StorageFailed):
                _bring_back(credential, source.resolve(), data, home)
        with suppress(OSError):
            copy.unlink()
        _record(home, credential).unlink(missing_ok=True)


def _others_lent(needs: Needs, home: Path) -> list[Credential]:
    """Credentials that a crashed turn was lent, and that this turn does not need, for example after another login."""
    now = {credential.file for credential in needs.credentials}
    lent = [
        (record, noted.credential) for record in home.parent.glob("*.lent") if (noted := _noted(record)) is not None
    ]
    return [
        credential for record, credential in lent if credential.file not in now and record == _record(home, credential)
    ]


def secret_texts(needs: Needs, environment: Mapping[str, str]) -> Iterator[str]:
    """The secrets in the user's credential files, including logins that are not lent. They must never be printed."""
    for credential in needs.credentials:
        source = credential.source(environment)
        if source is not None:
            yield from _secrets_in(logins_in(source))
    yield from (key.value for key in needs.written)


class Lent:
    """The credentials in a private home while a turn runs. A refreshed token is a secret from that moment on."""

    def __init__(self, needs: Needs, home: Path) -> None:
        self._lock = threading.Lock()
        self._seen = {copy: _mark(copy) for copy in (home / credential.file for credential in needs.credentials)}
        # A lent secret stays a secret when it is no longer in any file.
        self._lent = tuple(text for copy in self._seen for text in _secrets_in(_copied(copy)))

    def changed_secrets(self) -> tuple[str, ...]:
        """The secrets of copies that changed. Called often, so it usually only compares file times.

        The agent can write to the copies as well. So only a few new texts count, and no sentences or documents.
        """
        with self._lock:
            changed = [copy for copy, seen in self._seen.items() if _mark(copy) != seen]
            self._seen |= {copy: _mark(copy) for copy in changed}
            refreshed = [text for copy in changed for text in _secrets_in(_copied(copy)) if _is_word(text)]
        return (*self._lent, *refreshed[:_MOST_REFRESHED]) if refreshed else ()


def has_shape_of(before: Any, after: Any) -> bool:
    """Whether `after` could be the same login, refreshed: the same fields with the same types, perhaps with new ones.

    The account and the server must stay. A new key in an empty field means another login; other empty fields may be
    filled in.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() <= after.keys() and all(
            before[key] == after[key] if _stays(key) else _is_refreshed_field(key, before[key], after[key])
            for key in before
        )
    if isinstance(before, list) and isinstance(after, list):
        return before == after or all(isinstance(item, str) and _can_be_new("", item) for item in after)
    if isinstance(before, str) and isinstance(after, str):
        return before == after or (_can_be_new(before, after) and _bearer(before) in (None, _bearer(after)))
    return type(before) is type(after) or (_is_number(before) and _is_number(after))


def without_new_fields(before: Any, after: Any) -> Any:
    """The refreshed login without new fields: a field from the agent could send the login to another server.

    Programs add fields as well, but can do without them. Refusing the whole refresh would log the user out.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return {key: without_new_fields(before[key], value) for key, value in after.items() if key in before}
    return after


def _is_refreshed_field(field: str, before: Any, after: Any) -> bool:
    if before is None and not isinstance(after, dict | list) and not looks_secret(field):
        return not isinstance(after, str) or _can_be_new("", after)
    return has_shape_of(before, after)


def _can_be_new(before: str, after: str) -> bool:
    """Whether a text may replace this one: it has a token's length, and no characters that tokens never have."""
    return len(after) <= _LONGEST_SECRET and (not _NO_TOKEN.search(after) or bool(_NO_TOKEN.search(before)))


def _is_word(text: str) -> bool:
    return len(text.split()) == 1 and not _NO_TOKEN.search(text)


def _stays(field: str) -> bool:
    """Whether a field names an account (for example `account_id`), the kind of login, or the server."""
    last = re.split(r"_|-|(?<=[a-z])(?=[A-Z])", field)[-1].lower()
    return field == "type" or last in ("id", "uuid", "email") or _SAYS_WHERE.search(field) is not None


def _bearer(token: str) -> object:
    """The owner of a token, if the token names one; the signature is not checked here."""
    parts = token.split(".")
    if len(parts) != _JWT_PARTS:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    return claims.get("sub") if isinstance(claims, dict) else None


def _bring_back(credential: Credential, source: Path, data: bytes, home: Path) -> None:
    # The record names the entries, because the model may have changed since a crashed turn.
    noted = _noted(_record(home, credential))
    if noted is None or sha256(data) == noted.sha256:
        return
    entries = noted.credential.entries
    with locked(home.parents[2] / f"{_plain(credential)}.lock"), suppress(ValueError, RecursionError):
        now = read_regular_file(source, most=MOST_BYTES)
        lent = _part(now, entries)
        refreshed = _refreshed(lent, data) if sha256(lent) == noted.sha256 else None
        if refreshed is not None:
            merged = refreshed if entries is None else json.loads(now) | refreshed
            text = json.dumps(merged, indent=2, allow_nan=False) + "\n"
            write_durably(source, text.encode(), mode=source.stat().st_mode & 0o777)


def _part(data: bytes, entries: tuple[str, ...] | None) -> bytes:
    """The lent part of the user's file; empty if the file has none of the entries."""
    if entries is None:
        return data
    document = json.loads(data)
    kept = {name: document[name] for name in entries if name in document} if isinstance(document, dict) else {}
    return json.dumps(kept).encode() if kept else b""


def _refreshed(before: bytes, after: bytes) -> dict[str, Any] | None:
    """The login to store in the user's file; None if it can't be the same login."""
    if len(after) > len(before) + _MOST_MORE_BYTES:
        return None
    old, new = json.loads(before), json.loads(after)
    if not (isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys() and has_shape_of(old, new)):
        return None
    kept: dict[str, Any] = without_new_fields(old, new)
    return kept


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from _texts(child)


def _secrets_in(document: Mapping[str, Any]) -> Iterator[str]:
    return (text for text in _texts(document) if _SHORTEST_SECRET <= len(text) <= _LONGEST_SECRET)


def _copied(copy: Path) -> Mapping[str, Any]:
    """The current content of a copy. A link in its place is not followed."""
    try:
        return json_object(read_head(copy, MOST_BYTES)[0]) or {}
    except OSError:
        return {}


def _mark(file: Path) -> tuple[int, ...]:
    try:
        status = file.lstat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


def _note(home: Path, credential: Credential, data: bytes) -> None:
    _record(home, credential).write_bytes(msgspec.json.encode(_Noted(sha256(data), credential)))


def _noted(record: Path) -> _Noted | None:
    """None for a record that can't be read."""
    try:
        return msgspec.json.decode(record.read_bytes(), type=_Noted)
    except (OSError, msgspec.DecodeError):
        return None


def _record(home: Path, credential: Credential) -> Path:
    """Next to the home, where the agent has no access."""
    return home.with_name(f"{home.name}{_plain(credential)}.lent")


def _copy(home: Path, credential: Credential) -> Path:
    *folders, name = Path(credential.file).parts
    return private_folder(home, *folders) / name


def _plain(credential: Credential) -> str:
    return credential.file.replace("/", "-")
