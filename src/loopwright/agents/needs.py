"""What an agent's program needs from the machine: the list of all that is let in for it, and nothing else is. Data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from loopwright.agents.written_keys import WrittenKey
from loopwright.kernel.address import Address, parse_address
from loopwright.kernel.files import read_regular_file

MOST_BYTES = 1 << 20


class Credential(msgspec.Struct, frozen=True):
    """A file with which a program proves who it is: where the user's is, and what it is called in a private home."""

    # Below the folder that `variable` names, else below the user's home.
    folder: str
    # May lie in folders, which are the same in a private home.
    file: str
    variable: str = ""
    # Of a file that holds several logins: the fields that are lent. None is all of it.
    entries: tuple[str, ...] | None = None

    def source(self, environment: Mapping[str, str]) -> Path | None:
        """The user's own file, also if it is missing; None where the home is unknown."""
        if self.variable and (chosen := environment.get(self.variable)):
            return Path(chosen) / self.file
        home = environment.get("HOME")
        return Path(home) / self.folder / self.file if home else None

    def held(self, environment: Mapping[str, str]) -> tuple[str, ...] | None:
        """The entries that the user's file has; None where the file is lent as a whole, or is missing."""
        source = self.source(environment)
        if self.entries is None or source is None:
            return None
        document = logins_in(source)
        return tuple(name for name in self.entries if name in document)

    def is_there(self, environment: Mapping[str, str]) -> bool:
        """Whether there is something to lend."""
        if self.entries is not None:
            return bool(self.held(environment))
        source = self.source(environment)
        return source is not None and source.is_file()


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent's program needs."""

    program: str
    # The oldest version that is known to work.
    oldest: tuple[int, ...]
    # How a user gets the program, and how they log in: each one line.
    install: str
    login: str
    # Variables that it may see beside those of every step.
    variables: tuple[str, ...] = ()
    # The variables that are a login.
    keys: tuple[str, ...] = ()
    credentials: tuple[Credential, ...] = ()
    # Where its model is; variables that name another place for it.
    hosts: tuple[Address, ...] = ()
    address_variables: tuple[str, ...] = ()
    # Keys that the user wrote out in the program's settings: all are masked, and those of its model are let in.
    written: tuple[WrittenKey, ...] = ()
    # Whether the program itself reports a missing login at once; else we check before we start it.
    says_no_login: bool = True

    @property
    def has_login(self) -> bool:
        """Whether it wants one at all: a model on one's own machine may not."""
        return bool(self.keys or self.credentials)

    def addresses(self, environment: Mapping[str, str], more: tuple[str, ...] = ()) -> tuple[Address, ...]:
        """All that it may reach; an address of its own takes the place of its model's usual ones."""
        named = [environment[name] for name in self.address_variables if environment.get(name)]
        own = [found for text in named if (found := parse_address(text)) is not None]
        extra = [found for text in more if (found := parse_address(text)) is not None]
        return tuple(dict.fromkeys((*(own or self.hosts), *extra)))

    def is_logged_in(self, environment: Mapping[str, str]) -> str | None:
        """The way in which the user is logged in, as far as that can be seen; None without a login."""
        for name in self.keys:
            if environment.get(name):
                return name
        for credential in self.credentials:
            if credential.is_there(environment):
                return str(credential.source(environment))
        return next((key.place for key in self.written if key.is_let_in), None)


def logins_in(file: Path) -> Mapping[str, Any]:
    """A user's file with a login in each of its fields; one that can't be read has none."""
    try:
        return document_in(read_regular_file(file, most=MOST_BYTES))
    except OSError:
        return {}


def document_in(data: bytes) -> Mapping[str, Any]:
    """The fields of a JSON object; none for whatever else it is."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


@runtime_checkable
class HasNeeds(Protocol):
    """An agent with a program of its own, which needs more than a sandbox: all of it is declared, and shown."""

    @property
    def needs(self) -> Needs:
        """What is let in for it."""
        ...
