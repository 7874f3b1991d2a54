"""A path is never mistaken for a key, even with a random folder name; a key with slashes is still a key."""

from __future__ import annotations

import random
import string

import pytest

from loopwright.redaction.environment_values import looks_like_a_key
from loopwright.redaction.examples import expand

SHA = "3f786850e387550fdab836ed7e6dc881de23001b"


@pytest.mark.parametrize(
    "value",
    [
        "/tmp/tmp.OqEaEFDF2a/work",
        "/tmp/Kq9Gw4Kq9Gw4Kq9Gw4Kq9Gw4",
        "/__w/Project1/Project1",
        "/Users/Me2/Library/Caches",
        "/MyData/Kq9Gw4Kq9Gw4Kq9Gw4",
        "/SCRATCH/Kq9Gw4Kq9Gw4Kq9Gw4",
        f"/nix/store/{SHA}-Python3",
        "~/Kq9Gw4Kq9Gw4Kq9Gw4Kq9Gw4",
        "./Kq9Gw4Kq9Gw4Kq9Gw4Kq9Gw4",
        "../Kq9Gw4Kq9Gw4Kq9Gw4Kq9Gw4",
        "build/tmp.OqEaEFDF2a/Release2",
        "build/tmp.OqEaEFDF2a99",
        "MyProject/tmp.OqEaEFDF2a",
        "uploads/Kq9Gw4Kq9Gw4Kq9Gw4Kq9Gw4/picture.png",
        f"artifacts/{SHA}",
        "/usr/bin:/tmp/tmp.OqEaEFDF2a/bin",
        "file:///tmp/tmp.OqEaEFDF2a/work",
        r"C:\Users\Me2\AppData\Local\Temp\Kq9Gw4",
        "https://gateway.example/v1/2026/Models",
        "claude-sonnet-4-5-20250929",
    ],
)
def test_a_path_an_address_and_a_model_are_no_keys(value):
    assert not looks_like_a_key(value)


@pytest.mark.parametrize(
    "value",
    [
        "Gw4Kq9" * 4,
        SHA,
        expand("ghp_<alnum:36>", 7),
        expand("<alnum:13>/<alnum:7>/<alnum:18>", 7),
        expand("/<alnum:39>", 7),
        expand("/<alnum:19>/<alnum:19>", 7),
        expand("ab/<alnum:37>", 7),
        expand("src/<alnum:36>", 7),
        expand("<alnum:39>=", 7),
    ],
)
def test_a_key_is_one_with_slashes_too(value):
    assert looks_like_a_key(value)


def test_almost_no_random_base64_key_passes_for_a_path():
    source = random.Random(0)
    keys = ["".join(source.choices(string.ascii_letters + string.digits + "+/", k=40)) for _ in range(20_000)]
    with_a_digit = [key for key in keys if any(map(str.isdigit, key))]
    assert sum(not looks_like_a_key(key) for key in with_a_digit) < 50
