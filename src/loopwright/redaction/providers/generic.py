"""Secrets of no known provider: a random value after a name that says "secret".

A match needs three things: a name that looks secret, an assignment, and a value that looks random. Each alone is
frequent in ordinary text.
"""

from __future__ import annotations

import re

from loopwright.redaction.model import SecretRule
from loopwright.redaction.plausible import (
    has_many_signs,
    is_cut_token,
    is_no_example,
    is_pgp_fingerprint,
    is_strong_password,
    looks_random,
)
from loopwright.redaction.providers.parts import ASSIGNMENT, assigned_keywords
from loopwright.redaction.secret_names import looks_secret

_SCHEME = r"(?:(?i:bearer|basic|token|apikey|api-key)[ \t]{1,3})?"
# The whole name before a value. Patterns only have its end, which keeps them fast.
_NAME = re.compile(rf"([A-Za-z0-9_.-]{{1,80}}){ASSIGNMENT}{_SCHEME}$".encode())
# `--api-key VALUE`: only a space, so the name must be a flag.
_FLAG = re.compile(rb"""(?:^|[\s"'(\[=])--?([A-Za-z0-9_-]{1,80})[ \t]{1,3}["']?$""")
_FLAG_SPACE = r"""[ \t]{1,3}["']?"""
# The name of a resource at Amazon contains the word, and an id follows.
_ARN = re.compile(rb"\barn:[A-Za-z0-9:/_-]{0,70}$")
_NAMES = ("key", "keys", "secret", "token", "auth", "authorization", "jwt", "bearer", "credential", "credentials", "creds",
          "pat", "secret_id", "secretid", "secret-id")  # fmt: skip
# Not "pass": results of tests have the same word.
_PASSWORDS = ("password", "passwd", "passphrase", "pwd")
# Without a comma: in a list, the next item may be anything.
_ASSIGNMENT = ASSIGNMENT.replace("[:=,>|]", "[:=>|]")
_QUOTED_ASSIGNMENT = _ASSIGNMENT.removesuffix(r"""[\\"'\[(]{0,4}""") + r"""[\\\[(]{0,3}["'][\\"'\[(]{0,3}"""
_END = r"""(?:[^A-Za-z0-9_.~+/=($\[{%*-]|$)"""


def _is_random_secret(before: bytes, value: bytes, _after: bytes) -> bool:
    name = _name_before(before)
    if not (looks_secret(name) and is_no_example(value) and looks_random(value)):
        return False
    return not is_pgp_fingerprint(name, value.decode("ascii")) and not is_cut_token(name, value)


def _has_signs(before: bytes, value: bytes, _after: bytes) -> bool:
    return looks_secret(_name_before(before)) and has_many_signs(value) and is_strong_password(value)


def _is_password(before: bytes, value: bytes, _after: bytes) -> bool:
    is_password = is_strong_password(value) or (is_no_example(value) and looks_random(value))
    return looks_secret(_name_before(before)) and is_password


def _name_before(before: bytes) -> str:
    name = _NAME.search(before) or _FLAG.search(before)
    return "" if name is None or _ARN.search(before) else name[1].decode("ascii")


RULES: tuple[SecretRule, ...] = (
    SecretRule("secret-assignment", "any", (*assigned_keywords(*_NAMES), *(f"-{name} " for name in _NAMES)),
        rf"(?:(?i:{'|'.join(_NAMES)}){ASSIGNMENT}{_SCHEME}|-(?i:{'|'.join(_NAMES)}){_FLAG_SPACE})([A-Za-z0-9_.~+/=-]{{16,256}}){_END}",
        hits=('API_KEY = "<hex:32>"', "private static String CLIENT_SECRET = '<hex:40>';", "fbApiKey: '<alnum:32>'",
              "x-api-key: <alnum:40>", '"access_token":"<base64url:40>",', "Authorization: Token <hex:40>",
              "jenkinsToken = \"<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>\"", "'VAULT_SECRET_ID': '<hex:32>'",
              "run --api-key <hex:32> --verbose", "'clientSecret': '<hex:50>'"),
        misses=('API_KEY = "your-api-key-goes-here-2"', "API_KEY=$API_KEY_OF_2024_PRODUCTION", "api_key = settings.api_key_v2_of_user",
                "cache_key = <hex:40>", "commit: <hex:40>", "public_key: <base64:60>", "max_tokens=<digit:20>",
                "token = tokenizer.next_token_of_line_2(text)", 'API_KEY = "0123456789abcdef0123456789abcdef"',
                "secret_name = <alnum:32>", "publicKeyToken='<hex:16>'", "RegEnumKey = win32api.RegEnumKey",
                "mngr->getKey = xmlSecKeysMngrGetKey;", "key = <hex:40>",
                "ENV GPG_KEY=<HEX:40>", "-Sec-WebSocket-Key: <base64:22>==", "the api-key <hex:32> of", "run --cache-key <hex:40>", "COMMIT_KEY=<hex:40>",
                "arn:aws:secretsmanager:eu-west-1:<digit:12>:secret:MyDatabase1-<lowernum:6>", '"nextToken": "<base64:40>"', "ApiKey: <hex:16>",
                "API_SECRET=<hex:42>", "API_SECRET=<hex:33>", "apikey: hvb.<alnum:37>", "VAULT_TOKEN=s.<alnum:26>", "TWITCH_STREAM_KEY=<digit:9>_<alnum:25>",
                "apiKey=px-api-a1b2c3d4-e5f6-g7h8-i8j0-k0l3m3n4o0p5", "deployKey=px-dep-d4c3b2a1-f6e5-h8g7-j1i8-p5o0n5m3l2k1"),
        accepts=_is_random_secret, generic=True),
    SecretRule("password-assignment", "any", assigned_keywords(*_PASSWORDS),
        rf"""(?i:{'|'.join(_PASSWORDS)}){_ASSIGNMENT}([^ \t\r\n"'`<>()\[\]{{}},;|\\]{{10,128}})(?:[ \t\r\n"'`,;|\\]|$)""",
        hits=('password = "a7<lower:4>K2<upper:4>x9"', "DB_PASSWORD=a7<lower:4>K2<upper:4>!x9", "'passwd' => 'Q1<lower:5>#7<lower:5>'"),
        misses=('password = "<lower:12>"', "password = get_password()", 'password: "MyPassword123"', "PASSWORD=${DB_PASSWORD_1A}",
                "password=<digit:12>", '["-c", "pass"], capture_Output2=True,', "password_file = /run/Secrets/db1",
                "=== PASS: TestParse2#01-Fast", "'password' => 'Palavra-passe',", "pwd = SecureRandom.base58", 'password: "very-secret-and-long-123"', '"/account/Set-password":"/en/server@3.0/auth"'),
        accepts=_is_password, generic=True),
    SecretRule("quoted-secret-assignment", "any", assigned_keywords("key", "secret", "token"),
        rf"""(?i:key|secret|token){_QUOTED_ASSIGNMENT}([^ \t\r\n"'`<>{{}}\\/]{{24,128}})["']""",
        hits=("SECRET_KEY = '<lower:6>7!<lower:6>&4@<lower:5>)2^<lower:4>'", 'app.secret_key = "<lower:6>+3=<upper:6>*<lower:6>#<digit:4>"'),
        misses=("SECRET_KEY = 'change-me-in-production-please'", "secret_key = '$(get_key+$NAME)=1'", "cache_key = '<lower:6>7!<lower:6>&4@<lower:5>)2^<lower:4>'",
                't.shiftKey||37!==t.keyCode&&39!==t.keyCode+1||(e.modify("move"))'),
        accepts=_has_signs, generic=True),
)
