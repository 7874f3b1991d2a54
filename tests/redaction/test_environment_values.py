"""Which variables are secret, and which values of theirs give no access."""

from __future__ import annotations

import json

import pytest

from loopwright.redaction.environment_values import printed_forms, secret_values
from loopwright.redaction.examples import expand
from loopwright.redaction.secret_names import looks_secret

HASH = expand("<hex:40>", 3)
SECRET = "pineapple-pizza-77"  # pragma: allowlist-secret why=FIXTURE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TLS_KEY", "certs/server.key"),
        ("SSH_KEY", r"C:\keys\deploy.pem"),
        ("SSH_KEY", "file:///opt/me/keys/deploy.pem"),
        ("GPG_KEY", HASH.upper()),
        ("COMMIT_KEY", HASH),
        ("FEATURE_KEY", "new-checkout-flow"),
        ("NEXT_PAGE_TOKEN", HASH),
        ("TOKEN_URL", "https://login.example/oauth/token"),
    ],
)
def test_a_path_an_address_and_a_hash_are_public(name, value):
    assert secret_values({name: value}) == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "certs/server.key"),
        ("API_KEY", HASH),
        ("API_KEY", expand("<alnum:13>/<alnum:20>", 7)),
        ("SLACK_WEBHOOK_URL", "https://hooks.example/services/a"),
        ("GPG_PRIVATE_KEY", SECRET),
        ("JWT", SECRET),
        ("BEARER", SECRET),
        ("DOCKER_AUTH_CONFIG", SECRET),
        ("VAULT_CLIENT_TOKEN", HASH),
    ],
)
def test_other_values_of_these_names_are_secret(name, value):
    assert secret_values({name: value}) == {name: value}


@pytest.mark.parametrize(
    "value",
    [
        json.dumps({"type": "service_account", "private_key": SECRET}),
        json.dumps({"auths": [{"host": {"password": SECRET}}]}, indent=1),
        f"https://me:{SECRET}@host.example/v1",
    ],
)
def test_a_secret_inside_a_value_is_found_alone(value):
    assert SECRET.encode() in printed_forms(value)


def test_what_a_document_does_not_call_secret_is_not_found_alone():
    assert b"service_account" not in printed_forms(json.dumps({"type": "service_account", "token": SECRET}))


@pytest.mark.parametrize("name", ["nextToken", "ChangeToken", "cache_key", "gpg --recv-keys"])
def test_a_name_of_something_public_looks_not_secret(name):
    assert not looks_secret(name)
