"""Lends an agent's program the user's own login: a copy in its private home, and what it refreshed is brought back.

Tokens rotate: a refresh that stayed in the sandbox would log the user out. What is brought back has the shape of what
was lent, and never overwrites what the user's own program wrote meanwhile.
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

from loopwright.agents.needs import MOST_BYTES, Credential, Needs, document_in, logins_in
from loopwright.agents.private_files import folder_in, hand_over
from loopwright.errors import StorageFailed
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import read_head, read_regular_file, write_durably
from loopwright.kernel.locks import locked
from loopwright.redaction.environment_values import looks_secret

_SHORTEST_SECRET = 20
_JWT_PARTS = 3
_MOST_REFRESHED = 32
# No token is longer; and a redactor that must know longer ones costs more than it is worth.
_LONGEST_SECRET = 16 << 10
_MOST_MORE_BYTES = 64 << 10
# Masking such a text would mask parts of a document around it, or a number: the result would be unreadable.
_NO_TOKEN = re.compile(r"""["'`{}\[\],\\\x00-\x1f\x7f]|^[0-9.eE+-]{20,}$""")
# Fields, by their last word, that say where a login is used: a change would send it elsewhere.
_SAYS_WHERE = re.compile(r"(?:url|uri|host|hostname|endpoint|domain|base|server|address|metadata)s?$", re.IGNORECASE)


class _Noted(msgspec.Struct, frozen=True):
    """What was lent: after a turn that died, the next one brings it back with this."""

    sha256: str
    credential: Credential


def lend(needs: Needs, environment: Mapping[str, str], home: Path) -> None:
    """Copy the user's credential files into the private home; after `take_back` of what a dead turn left there."""
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
            hand_over(_copy(home, credential), data)


def take_back(needs: Needs, environment: Mapping[str, str], home: Path) -> None:
    """Bring back what was refreshed, and leave no credential behind; does nothing where none was lent."""
    for credential in (*needs.credentials, *_others_lent(needs, home)):
        copy = _copy(home, credential)
        source = credential.source(environment)
        try:
            data, is_longer = read_head(copy, MOST_BYTES)
        except OSError:
            data, is_longer = b"", False
        if source is not None and data and not is_longer:
            # Who can't write there keeps what they have; the program's next turn refreshes again.
            with suppress(OSError, StorageFailed):
                _bring_back(credential, source.resolve(), data, home)
        with suppress(OSError):
            copy.unlink()
        _record(home, credential).unlink(missing_ok=True)


def _others_lent(needs: Needs, home: Path) -> list[Credential]:
    """A turn that died may have been lent what is not needed any more, by another way of logging in."""
    now = {credential.file for credential in needs.credentials}
    lent = [
        (record, noted.credential) for record in home.parent.glob("*.lent") if (noted := _noted(record)) is not None
    ]
    return [one for record, one in lent if one.file not in now and record == _record(home, one)]


def secret_texts(needs: Needs, environment: Mapping[str, str]) -> Iterator[str]:
    """What of the user's credential files must never be printed, also of logins that are not lent."""
    for credential in needs.credentials:
        source = credential.source(environment)
        if source is not None:
            yield from _secrets_in(logins_in(source))
    yield from (key.value for key in needs.written)


class Lent:
    """The credentials in a private home while a turn runs: what is refreshed there is a secret from that moment on."""

    def __init__(self, needs: Needs, home: Path) -> None:
        self._lock = threading.Lock()
        self._seen = {copy: _mark(copy) for copy in (home / credential.file for credential in needs.credentials)}
        # What was lent stays a secret when it is no longer in any file.
        self._lent = tuple(text for copy in self._seen for text in _secrets_in(_copied(copy)))

    def news(self) -> tuple[str, ...]:
        """What must not be printed of copies that are not as they were; asked often, and seldom more than a look.

        The agent can write there, too: what it could have masked by that is little, and no words or documents.
        """
        with self._lock:
            changed = [copy for copy, seen in self._seen.items() if _mark(copy) != seen]
            self._seen |= {copy: _mark(copy) for copy in changed}
            found = [text for copy in changed for text in _secrets_in(_copied(copy)) if _is_word(text)]
        return (*self._lent, *found[:_MOST_REFRESHED]) if found else ()


def has_shape_of(before: Any, after: Any) -> bool:
    """Whether this could be the same login, refreshed: the same fields of the same kinds, maybe more deep down.

    Whose login it is and where it is used stays, and a key where there was none is another login; what else was empty
    may be filled in.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() <= after.keys() and all(
            before[key] == after[key] if _stays(key) else _is_refreshed_field(key, before[key], after[key])
            for key in before
        )
    if isinstance(before, list) and isinstance(after, list):
        return before == after or all(isinstance(one, str) and _can_be_new("", one) for one in after)
    if isinstance(before, str) and isinstance(after, str):
        return before == after or (_can_be_new(before, after) and _bearer(before) in (None, _bearer(after)))
    return type(before) is type(after) or (_is_number(before) and _is_number(after))


def without_new_fields(before: Any, after: Any) -> Any:
    """What was refreshed, in the fields that were lent: one that an agent put beside them may send the login elsewhere.

    Programs add some, too, that they can do without; a refresh that was given up for that would log the user out.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return {key: without_new_fields(before[key], value) for key, value in after.items() if key in before}
    return after


def _is_refreshed_field(field: str, before: Any, after: Any) -> bool:
    if before is None and not isinstance(after, dict | list) and not looks_secret(field):
        return not isinstance(after, str) or _can_be_new("", after)
    return has_shape_of(before, after)


def _can_be_new(before: str, after: str) -> bool:
    """Whether a text may take the place of this one: of a token's length, and without marks that no token has."""
    return len(after) <= _LONGEST_SECRET and (not _NO_TOKEN.search(after) or bool(_NO_TOKEN.search(before)))


def _is_word(text: str) -> bool:
    return len(text.split()) == 1 and not _NO_TOKEN.search(text)


def _stays(field: str) -> bool:
    """Whether a field names an account, as `account_id` does, the way of logging in, or where the login is used."""
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
    # Of a turn that died: which entries it had is written down, since the model may be another one now.
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
    """What is lent of the user's file; nothing where it has none of the entries."""
    if entries is None:
        return data
    document = json.loads(data)
    kept = {name: document[name] for name in entries if name in document} if isinstance(document, dict) else {}
    return json.dumps(kept).encode() if kept else b""


def _refreshed(before: bytes, after: bytes) -> dict[str, Any] | None:
    """What is to be put into the user's file of what came back; None where it can't be the same login."""
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
    """A copy as it is now; a link that was put in its place is not followed."""
    try:
        return document_in(read_head(copy, MOST_BYTES)[0])
    except OSError:
        return {}


def _mark(file: Path) -> tuple[int, ...]:
    try:
        found = file.lstat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _note(home: Path, credential: Credential, data: bytes) -> None:
    _record(home, credential).write_bytes(msgspec.json.encode(_Noted(sha256(data), credential)))


def _noted(record: Path) -> _Noted | None:
    """None for a record that can't be read."""
    try:
        return msgspec.json.decode(record.read_bytes(), type=_Noted)
    except (OSError, msgspec.DecodeError):
        return None


def _record(home: Path, credential: Credential) -> Path:
    """Beside the home, where the agent does not get."""
    return home.with_name(f"{home.name}{_plain(credential)}.lent")


def _copy(home: Path, credential: Credential) -> Path:
    *folders, name = Path(credential.file).parts
    return folder_in(home, *folders) / name


def _plain(credential: Credential) -> str:
    return credential.file.replace("/", "-")
