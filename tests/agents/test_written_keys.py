"""Literal keys in settings: exactly the keys that are found are removed."""

from __future__ import annotations

import pytest

from loopwright.agents.written_keys import without_written_keys, written_keys


@pytest.mark.parametrize(
    ("field", "value", "found", "kept"),
    [
        ("baseURL", "https://me:pass-word-1@own.example/v1?a=1&key=hidden-22#x", ["pass-word-1", "hidden-22"],
         ["https://own.example/v1?a=1#x"]),
        ("baseURL", "https://token-1234@own.example:8080/v1", ["token-1234"], ["https://own.example:8080/v1"]),
        ("baseURL", "https://own.example/v1/?b=%20&a", [], ["https://own.example/v1/?b=%20&a"]),
        ("baseURL", "https://{env:ME}:{env:PASS}@own.example?key={env:KEY}", [],
         ["https://{env:ME}:{env:PASS}@own.example?key={env:KEY}"]),
        ("baseURL", "https://me:pass-word-1@own.example?key={env:KEY}", ["pass-word-1"],
         ["https://own.example?key={env:KEY}"]),
        ("baseURL", "http://[bad", [], ["http://[bad"]),
        ("apiKeys", ["hidden-11", "hidden-22", "{env:KEY}"], ["hidden-11", "hidden-22"], [["{env:KEY}"]]),
        ("backends", [{"apiKey": "hidden-11", "region": "eu"}, 3, ["https://a:hidden-22@b.example"]],
         ["hidden-11", "hidden-22"], [[{"region": "eu"}, 3, ["https://b.example"]]]),
        ("cf-aig-authorization", "Bearer hidden-11", ["hidden-11"], []),
        ("name", "big", [], ["big"]),
    ],
)  # fmt: skip
def test_the_same_keys_are_found_and_removed(field, value, found, kept):
    table = {"options": {field: value}}
    assert [key.value for key in written_keys(table, "p", is_let_in=False)] == found
    left = without_written_keys(table)
    assert list(left["options"].values()) == kept
    assert list(written_keys(left, "p", is_let_in=False)) == []
