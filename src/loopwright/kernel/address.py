"""Network addresses in one spelling each, so that two addresses are the same if and only if they compare equal.

Never looks up a name.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

LOOPBACK = "127.0.0.1"
_PORTS = {"https": 443, "http": 80}
_LONGEST_NAME = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
# The C library reads `127.1`, `2130706433` and `0x7f.1` as IP addresses, although they look like names.
_LOOKS_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.ASCII)


class Address(msgspec.Struct, frozen=True, order=True):
    """A host and a port. `parse_host` gives the host its one spelling."""

    host: str
    port: int = 443

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether the address is on this machine by its IP address."""
        return self.is_ip and ip_address(self.host).is_loopback

    @property
    def is_ip(self) -> bool:
        """Whether the host is an IP address, not a name."""
        return _parse_ip(self.host) is not None


def parse_address(text: str) -> Address | None:
    """The address in a URL, in `host` or in `host:port`; None if the text holds no valid address."""
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        port = parts.port
    except ValueError:
        return None
    host = parse_host(parts.hostname or "")
    if host is None or port == 0:
        return None
    return Address(host, port or _PORTS.get(parts.scheme, 443))


def parse_host(text: str) -> str | None:
    """A name in lower case, in ASCII and without a trailing dot, or a short IP address; None for an invalid host."""
    if (ip := _parse_ip(text)) is not None:
        return ip
    try:
        name = text if text.isascii() else text.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    name = name.lower().removesuffix(".")
    if name == "localhost":
        return LOOPBACK
    is_name = len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) and not _LOOKS_NUMERIC.fullmatch(name)
    return name if is_name else None


def _parse_ip(text: str) -> str | None:
    try:
        # An interface (`fe80::1%eth0`) is not part of an address.
        return None if "%" in text else ip_address(text).compressed
    except ValueError:
        return None
