"""Words of paths: borders, alphabets, and names that are not valid text."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel import files
from loopwright.reflection.path_words import fold, numbered_of, parts_of, shown, words_of


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("authService", ("auth", "service")),
        ("auth_service", ("auth", "service")),
        ("AuthService", ("auth", "service")),
        ("auth-service.spec.ts", ("auth", "service", "spec", "ts")),
        ("AUTH_TOKEN", ("auth", "token")),
        ("auth2fa", ("auth", "fa")),
        ("HTTPServer", ("http", "server")),
        ("OAuth2Token.java", ("o", "auth", "token", "java")),
        ("JWTs", ("jwts",)),
        ("ACLsByUser", ("acls", "by", "user")),
        ("parseJWTsNow", ("parse", "jwts", "now")),
        ("IDs", ("ids",)),
        ("author", ("author",)),
        ("a b", ("a", "b")),
        ("auth设置.ts", ("auth", "ts")),
        ("authé", ("authé",)),
        ("authe\u0301", ("authe\u0301",)),
        ("étatÉcole", ("état", "École")),
        ("SESSİON", ("sessİon",)),
        ("to\u212aen", ("to", "en")),
        ("authß", ("authß",)),
        ("auth\udcff", ("auth",)),
        ("…", ()),
        ("", ()),
    ],
)
def test_a_word_ends_where_a_reader_would_end_it(part, words):
    assert words_of(part) == words


@pytest.mark.parametrize(
    ("part", "names"),
    [("k8s-prod", ("k8s",)), ("K8sConfig", ("k8s",)), ("x509.go", ("x509",)), ("2024-01", ()), ("plain", ())],
)
def test_names_with_digits_are_kept_whole(part, names):
    assert numbered_of(part) == names


@pytest.mark.parametrize("path", ["src/a/b.py", "src\\a\\b.py", "./src//a/./b.py", "src/a\\b.py"])
def test_parts_are_the_same_whichever_separator_a_platform_has(path):
    assert parts_of(path) == ["src", "a", "b.py"]


@given(st.text(max_size=30))
def test_folding_touches_ascii_only_and_keeps_every_length(text):
    folded = fold(text)
    assert len(folded) == len(text)
    assert all(
        now == before or (before.isascii() and now == before.lower()) for before, now in zip(text, folded, strict=True)
    )


@given(st.binary(max_size=30).filter(lambda raw: b"\0" not in raw))
def test_names_are_shown_as_the_rest_of_the_program_shows_them(raw):
    text = shown(raw.decode("utf-8", "surrogateescape"))
    assert text == files.shown(os.fsdecode(raw))
    assert text.encode("utf-8").decode("utf-8").isprintable() or not text


def test_even_half_a_character_can_be_shown():
    assert shown("a\ud800b") == "a\\xed\\xa0\\x80b"
