"""One spelling for each network address: what is equal compares equal, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.address import Address, parse_address, parse_host


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("model.example", Address("model.example", 443)),
        ("model.example:8443", Address("model.example", 8443)),
        ("http://model.example/v1", Address("model.example", 80)),
        ("https://ann:secret@Model.EXAMPLE./v1?x", Address("model.example", 443)),
        ("MÜNCHEN.example", Address("xn--mnchen-3ya.example", 443)),
        ("localhost:11434", Address("127.0.0.1", 11434)),
        ("LOCALHOST.:11434", Address("127.0.0.1", 11434)),
        ("10.0.0.7:8000", Address("10.0.0.7", 8000)),
        ("[0:0::1]:8000", Address("::1", 8000)),
        ("my_gateway-2", Address("my_gateway-2", 443)),
        (f"{'a.' * 126}b", Address(f"{'a.' * 126}b", 443)),
        ("wss://model.example", Address("model.example", 443)),
    ],
)
def test_an_address_has_one_spelling(text, address):
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "", ":", "http://", "model.example:port", "model.example:0", "model.example:65536", "model.example:-1",
        "*.example", "exa mple.example", "a..example", ".example", "-a.example", "a-.example", "exa%6dple.example",
        "a\0.example", "a" * 64 + ".example", ".".join(["a" * 60] * 5), "[::1", "::bad::", "[fe80::1%25eth0]",
        # Forms that the C library takes for an IP address.
        "127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "256.1.1.1", "127.0.0.1.",
    ],
)  # fmt: skip
def test_an_invalid_address_is_refused(text):
    assert parse_address(text) is None


@given(st.text(max_size=30))
def test_any_text_has_a_host_that_stays_the_same_or_none(text):
    host = parse_host(text)
    assert host is None or (host.isascii() and host == host.lower() and parse_host(host) == host)
