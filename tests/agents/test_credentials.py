"""Credentials are lent, and brought back if refreshed, but never over a newer file of the user's own program."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopwright.agents.credentials import Lent, has_shape_of, lend, secret_texts, take_back
from loopwright.agents.gemini import adapter as gemini
from loopwright.agents.needs import Credential, Needs
from loopwright.agents.opencode import adapter as opencode
from loopwright.kernel.address import Address, parse_address

NEEDS = Needs(
    program="p", oldest=(1,), install="i", login="l", credentials=(Credential(".p", "auth.json", "P_HOME"),),
    hosts=(Address("model.example"),), address_variables=("P_URL",),
)  # fmt: skip
LOGIN = {"tokens": {"access": "a" * 30, "refresh": "r" * 30}, "at": 1}


@pytest.fixture
def place(tmp_path):
    """The user's login file and an agent's private home, with a record next to the home."""
    own = tmp_path / "user" / ".p" / "auth.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(LOGIN))
    own.chmod(0o600)
    home = tmp_path / "homes" / "x" / "work" / "p"
    home.mkdir(parents=True)
    return own, home, {"HOME": str(tmp_path / "user")}


OPENCODE = replace(opencode.NEEDS, credentials=(replace(opencode.NEEDS.credentials[0], entries=("tokens", "at")),))


@pytest.mark.parametrize("needs", [gemini._BY_LOGIN["oauth-personal"], OPENCODE], ids=["gemini", "opencode"])
def test_a_file_in_a_folder_of_the_home_is_lent_into_the_same_folder(tmp_path, needs):
    (credential,) = needs.credentials
    environment = {"HOME": str(tmp_path / "user")}
    own = credential.source(environment)
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(LOGIN))
    home = tmp_path / "homes" / "x" / "work" / "p"
    home.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = home / Path(credential.file).parts[0]
    folder.symlink_to(elsewhere)
    lend(needs, environment, home)
    assert list(elsewhere.iterdir()) == [], "links in an agent's home are not followed"
    (home / credential.file).write_text(json.dumps(REFRESHED))
    take_back(needs, environment, home)
    assert json.loads(own.read_text()) == REFRESHED
    assert list(folder.iterdir()) == []
    assert [path.name for path in home.parent.iterdir()] == ["p"]


REFRESHED = {"tokens": {"access": "b" * 30, "refresh": "s" * 30}, "at": 2.5}


@pytest.mark.parametrize(
    ("after", "brought"),
    [
        (json.dumps(REFRESHED), True),
        ("", False),
        ("not json", False),
        (json.dumps([1]), False),
        (json.dumps({"tokens": "x", "at": 1}), False),
        (json.dumps({**LOGIN, "command": "rm -rf ~"}), False),
        (json.dumps({"at": 1}), False),
        (json.dumps({"tokens": {"access": "b"}, "at": 1}), False),
        # Added fields are dropped: the programs don't need them, and an agent could redirect the login with them.
        (json.dumps({**REFRESHED, "tokens": {**REFRESHED["tokens"], "enterpriseUrl": "evil.example"}}), True),
        (json.dumps({**REFRESHED, "tokens": {**REFRESHED["tokens"], "access": "b" * 20_000}}), False),
        (json.dumps(REFRESHED) + " " * 70_000, False),
    ],
)
def test_only_the_same_login_is_brought_back(place, after, brought):
    own, home, environment = place
    lend(NEEDS, environment, home)
    copy = home / "auth.json"
    assert json.loads(copy.read_text()) == LOGIN
    assert copy.stat().st_mode & 0o777 == 0o600
    copy.write_text(after)
    take_back(NEEDS, environment, home)
    assert (json.loads(own.read_text()) == REFRESHED) is brought
    assert own.stat().st_mode & 0o777 == 0o600
    assert list(home.iterdir()) == []
    assert [path.name for path in home.parent.iterdir()] == ["p"]


def jwt(**claims):
    return ".".join(
        base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b"{}", json.dumps(claims).encode(), b"x")
    )


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ({"OPENAI_API_KEY": None}, {"OPENAI_API_KEY": None}, True),
        ({"OPENAI_API_KEY": None}, {"OPENAI_API_KEY": "sk-of-another-person"}, False),
        ({"OPENAI_API_KEY": "mine"}, {"OPENAI_API_KEY": None}, False),
        ({"t": {"account_id": "a", "access_token": "1"}}, {"t": {"account_id": "a", "access_token": "2"}}, True),
        ({"t": {"account_id": "a", "access_token": "1"}}, {"t": {"account_id": "b", "access_token": "2"}}, False),
        ({"accountId": "a"}, {"accountId": "b"}, False),
        ({"organizationUuid": "a"}, {"organizationUuid": "b"}, False),
        ({"subscriptionType": "pro"}, {"subscriptionType": "max"}, True),
        ({"subscriptionType": None, "last_refresh": None}, {"subscriptionType": "max", "last_refresh": "today"}, True),
        ({"account": None}, {"account": {"id": "b"}}, False),
        ({"openai": {"type": "oauth", "key": "x"}}, {"openai": {"type": "api", "key": "x"}}, False),
        ({"id_token": jwt(sub="me", exp=1)}, {"id_token": jwt(sub="me", exp=2)}, True),
        ({"id_token": jwt(sub="me", exp=1)}, {"id_token": jwt(sub="you", exp=2)}, False),
        ({"id_token": jwt(sub="me", exp=1)}, {"id_token": "opaque"}, False),
        ({"id_token": "not.a.token"}, {"id_token": "opaque"}, True),
        ({"expires": 1, "valid": True}, {"expires": 2.5, "valid": 1}, False),
        *(
            ({"t": {where: before, "access": "1"}}, {"t": {where: after, "access": "2"}}, before == after)
            for where in (
                "enterpriseUrl",
                "baseURL",
                "token_uri",
                "apiHost",
                "endpoint",
                "enterprise_domain",
                "metadata",
            )
            for before, after in (("a.example", "a.example"), ("a.example", "evil.example"), (None, "evil.example"))
        ),
        ({"scopes": ["a"]}, {"scopes": ["a", "b"]}, True),
        ({"scopes": ["a"]}, {"scopes": ["a", {"url": "evil.example"}]}, False),
        ({"scopes": ["a"]}, {"scopes": ["a" * 20_000]}, False),
        ({"tier": None}, {"tier": "a" * 20_000}, False),
        ({"tier": None, "scopes": [], "access": "a,b"}, {"tier": "x", "scopes": ["y"], "access": "c,d"}, True),
        *(
            (before, after, False)
            for text in ('"/usr/bin/p",', "a,b", "{a", "a\\b", "a\nb")
            for before, after in (({"t": "a"}, {"t": text}), ({"t": None}, {"t": text}), ({"t": []}, {"t": [text]}))
        ),
    ],
)
def test_a_refreshed_login_keeps_its_person_and_its_method(before, after, is_same):
    assert has_shape_of(before, after) is is_same


def test_a_refresh_by_the_user_during_the_turn_stays(place):
    own, home, environment = place
    lend(NEEDS, environment, home)
    own.write_text(json.dumps({**LOGIN, "at": 9}))
    (home / "auth.json").write_text(json.dumps(REFRESHED))
    take_back(NEEDS, environment, home)
    assert json.loads(own.read_text())["at"] == 9


def test_the_login_of_a_dead_turn_is_brought_back_before_the_next_turn(place):
    own, home, environment = place
    lend(NEEDS, environment, home)
    (home / "auth.json").write_text(json.dumps(REFRESHED))
    lend(NEEDS, environment, home)
    assert json.loads(own.read_text()) == REFRESHED
    assert json.loads((home / "auth.json").read_text()) == REFRESHED


def test_nothing_is_written_through_leftovers_in_the_home(place, tmp_path):
    own, home, environment = place
    target = tmp_path / "target"
    target.write_text("mine")
    (home / "auth.json").symlink_to(target)
    lend(NEEDS, environment, home)
    assert target.read_text() == "mine"
    (home / "auth.json").unlink()
    (home / "auth.json").symlink_to(target)
    target.write_text(json.dumps(REFRESHED))
    take_back(NEEDS, environment, home)
    assert json.loads(own.read_text()) == LOGIN
    assert target.exists()


def test_every_long_text_in_a_login_file_is_a_secret(place):
    place[0].write_text(json.dumps({**LOGIN, "blob": "x" * 20_000}))
    assert set(secret_texts(NEEDS, place[2])) == {"a" * 30, "r" * 30}


def test_a_users_own_address_replaces_the_default_address():
    assert NEEDS.addresses({}) == (Address("model.example"),)
    assert NEEDS.addresses({"P_URL": "http://localhost:99/v1"}, ("r.example:8", "::bad::")) == (
        Address("127.0.0.1", 99),
        Address("r.example", 8),
    )
    assert parse_address("https://x.example") == Address("x.example", 443)
    assert parse_address("http://x.example:port") is None


MINE, OTHERS = {"type": "oauth", "access": "a" * 30, "expires": 1}, {"type": "api", "key": "k" * 30, "note": "é\ud800"}
AGAIN = {"type": "oauth", "access": "b" * 30, "expires": 2}
SEVERAL = {"openai": OTHERS, "anthropic": MINE, "groq": {"type": "api", "key": 12345678901234567890}}


def of(*names):
    return replace(NEEDS, credentials=(replace(NEEDS.credentials[0], entries=names),))


@pytest.fixture
def several(place):
    """The same place, with a login file that has several logins."""
    own, home, environment = place
    own.write_text(json.dumps(SEVERAL))
    return own, home, environment


def test_only_the_needed_logins_of_a_file_are_lent_and_brought_back(several):
    own, home, environment = several
    lend(of("anthropic"), environment, home)
    copy = home / "auth.json"
    assert json.loads(copy.read_text()) == {"anthropic": MINE}
    # Meanwhile the user logs in with another account, which must stay.
    meanwhile = {**SEVERAL, "xai": {"type": "api", "key": "x" * 30}}
    own.write_text(json.dumps(meanwhile))
    copy.write_text(json.dumps({"anthropic": AGAIN}))
    take_back(of("anthropic"), environment, home)
    assert json.loads(own.read_text()) == {**meanwhile, "anthropic": AGAIN}
    assert own.stat().st_mode & 0o777 == 0o600
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "after",
    [
        {"anthropic": AGAIN, "openai": {**OTHERS, "key": "e" * 30}},
        {"anthropic": AGAIN, "evil": AGAIN},
        {"openai": {**OTHERS, "key": "e" * 30}},
        {},
        {"anthropic": {**AGAIN, "type": "api"}},
    ],
)
def test_an_entry_that_was_not_lent_is_never_brought_back(several, after):
    own, home, environment = several
    lend(of("anthropic"), environment, home)
    (home / "auth.json").write_text(json.dumps(after))
    take_back(of("anthropic"), environment, home)
    assert json.loads(own.read_text()) == SEVERAL


def test_the_refresh_of_a_dead_turn_is_brought_back_even_if_the_provider_changed(several):
    own, home, environment = several
    lend(of("anthropic"), environment, home)
    (home / "auth.json").write_text(json.dumps({"anthropic": AGAIN}))
    lend(of("openai"), environment, home)
    assert json.loads(own.read_text()) == {**SEVERAL, "anthropic": AGAIN}
    assert json.loads((home / "auth.json").read_text()) == {"openai": OTHERS}


@pytest.mark.parametrize("text", ["not json", "[]", json.dumps({"openai": OTHERS}), "[" * 100_000])
def test_nothing_is_lent_from_a_file_without_the_needed_login(place, text):
    own, home, environment = place
    own.write_text(text)
    lend(of("anthropic"), environment, home)
    assert list(home.iterdir()) == []
    assert of("anthropic").is_logged_in(environment) is None
    take_back(of("anthropic"), environment, home)
    assert own.read_text() == text


def test_the_entry_shows_the_login_and_all_other_logins_are_masked(several):
    own, _, environment = several
    assert of("anthropic").is_logged_in(environment) == str(own)
    assert of("xai").is_logged_in(environment) is None
    assert of("xai", "groq", "openai").credentials[0].held(environment) == ("groq", "openai")
    assert {"a" * 30, "k" * 30} <= set(secret_texts(of("xai"), environment))


def test_a_token_refreshed_during_a_turn_is_known_at_once(place, tmp_path):
    _, home, environment = place
    lend(NEEDS, environment, home)
    copy, lent = home / "auth.json", Lent(NEEDS, home)
    assert lent.changed_secrets() == ()
    copy.write_text(json.dumps(REFRESHED))
    assert set(lent.changed_secrets()) == {"a" * 30, "r" * 30, "b" * 30, "s" * 30}, "what was lent is still a secret"
    assert lent.changed_secrets() == ()
    # Nor can it have a document of ours masked until it is unreadable.
    copy.write_text(json.dumps({"a": '"/usr/local/bin/the-program",', "b": "1.2345678901234567e-05"}))
    assert lent.changed_secrets() == ()
    # An agent writes there, too: it can't have its own words masked, nor many things, nor another file read.
    copy.write_text(json.dumps({"a": "all of the tests have failed", "b": [f"t{number:030}" for number in range(999)]}))
    assert len(lent.changed_secrets()) == 2 + 32
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(json.dumps({"a": "e" * 30}))
    copy.unlink()
    copy.symlink_to(elsewhere)
    assert lent.changed_secrets() == ()
    copy.unlink()
    assert lent.changed_secrets() == ()


def test_the_login_of_a_dead_turn_is_brought_back_and_removed_if_the_next_turn_uses_another(several):
    own, home, environment = several
    again = {**SEVERAL, "anthropic": AGAIN}
    other = home.with_name("p2")
    other.mkdir()
    for folder in (home, other):
        lend(NEEDS, environment, folder)
    # The refreshed login is brought back first, since the refresh made the old login void.
    (home / "auth.json").write_text(json.dumps(again))
    lend(replace(NEEDS, credentials=()), environment, home)
    assert list(home.iterdir()) == []
    assert (other / "auth.json").exists(), "another agent's copy stays"
    take_back(NEEDS, environment, other)
    assert sorted(path.name for path in home.parent.iterdir()) == ["p", "p2"]
    assert json.loads(own.read_text()) == again
