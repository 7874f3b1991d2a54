"""What an agent's program needs from the machine. The sandbox lets in what is listed here, and nothing else. Data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from loopwright.agents.written_keys import WrittenKey
from loopwright.kernel.address import Address, parse_address
from loopwright.kernel.codec import json_object
from loopwright.kernel.files import read_regular_file

MOST_BYTES = 1 << 20


class Credential(msgspec.Struct, frozen=True):
    """A login file: where the user's file is, and its name in a private home."""

    # Used below the user's home, unless `variable` names a folder.
    folder: str
    # A path; the same in a private home.
    file: str
    variable: str = ""
    # The fields that are lent, if the file has several logins. None means the whole file.
    entries: tuple[str, ...] | None = None

    def source(self, environment: Mapping[str, str]) -> Path | None:
        """The user's own file, even if it is missing; None if the home is unknown."""
        if self.variable and (chosen := environment.get(self.variable)):
            return Path(chosen) / self.file
        home = environment.get("HOME")
        return Path(home) / self.folder / self.file if home else None

    def held(self, environment: Mapping[str, str]) -> tuple[str, ...] | None:
        """The entries that the user's file has; None if the file is lent as a whole or is missing."""
        source = self.source(environment)
        if self.entries is None or source is None:
            return None
        document = logins_in(source)
        return tuple(name for name in self.entries if name in document)

    def exists(self, environment: Mapping[str, str]) -> bool:
        """Whether the user has this login."""
        if self.entries is not None:
            return bool(self.held(environment))
        source = self.source(environment)
        return source is not None and source.is_file()


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent's program needs."""

    program: str
    # The oldest version that is known to work.
    oldest: tuple[int, ...]
    # How a user installs the program, and how they log in: one line each.
    install: str
    login: str
    # Variables that the program may see, in addition to those of every step.
    variables: tuple[str, ...] = ()
    # Variables that hold a login.
    keys: tuple[str, ...] = ()
    credentials: tuple[Credential, ...] = ()
    # The addresses of the model; variables that name another address for it.
    hosts: tuple[Address, ...] = ()
    address_variables: tuple[str, ...] = ()
    # Keys in the program's settings: all are masked, and the keys of the chosen model are let in.
    written: tuple[WrittenKey, ...] = ()
    # Whether the program reports a missing login at once. Otherwise we check before starting it.
    says_no_login: bool = True

    @property
    def has_login(self) -> bool:
        """Whether the program needs a login at all: a local model may not."""
        return bool(self.keys or self.credentials)

    def addresses(self, environment: Mapping[str, str], more: tuple[str, ...] = ()) -> tuple[Address, ...]:
        """All addresses that the program may reach. An address from the environment replaces the default ones."""
        named = [environment[name] for name in self.address_variables if environment.get(name)]
        own = [address for text in named if (address := parse_address(text)) is not None]
        extra = [address for text in more if (address := parse_address(text)) is not None]
        return tuple(dict.fromkeys((*(own or self.hosts), *extra)))

    def is_logged_in(self, environment: Mapping[str, str]) -> str | None:
        """How the user is logged in (a variable, a file or a settings key), as far as visible; None if not at all."""
        for name in self.keys:
            if environment.get(name):
                return name
        for credential in self.credentials:
            if credential.exists(environment):
                return str(credential.source(environment))
        return next((key.place for key in self.written if key.is_let_in), None)


def logins_in(file: Path) -> Mapping[str, Any]:
    """The logins in a user's file, by field; empty if the file is unreadable."""
    try:
        return json_object(read_regular_file(file, most=MOST_BYTES)) or {}
    except OSError:
        return {}


@runtime_checkable
class HasNeeds(Protocol):
    """An agent with a program that needs more than a sandbox. All its needs are declared and shown."""

    @property
    def needs(self) -> Needs:
        """What the sandbox lets in for the program."""
        ...
