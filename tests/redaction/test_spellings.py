"""A value that is known by its name is found however the name is spelled: OTHER_API_KEY, other-api-key, otherApiKey."""

from __future__ import annotations

import re

import pytest

from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.detector import Detector
from loopwright.redaction.examples import expand, hits_of
from loopwright.redaction.providers.parts import named, spellings

DETECTOR = Detector(SHIPPED_RULES, {})
ASSIGNED = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(?:=|: )(?P<value><[^'\"]+)")
NAMED = [
    (rule.id, found["name"], found["value"])
    for rule in SHIPPED_RULES
    for found in map(ASSIGNED.fullmatch, hits_of(rule))
    if found
]
# Two underscores in its name: it is spelled in one way only.
ONE_WAY = {"sidekiq-bundle-credential"}


def camel(name):
    first, *rest = name.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


IDS = [f"{rule}-{name}" for rule, name, _ in NAMED]


@pytest.mark.parametrize(("rule", "name", "template"), NAMED, ids=IDS)
def test_a_named_value_is_found_in_every_spelling_of_its_name(rule, name, template):
    value = expand(template, 11)
    for spelled in (name.lower(), name.lower().replace("_", "-"), camel(name)):
        if rule in ONE_WAY and spelled != name.lower():
            continue
        for text in (f'{{"{spelled}": "{value}"}}', f"{spelled}={value}", f"  {spelled}: '{value}'"):
            assert any(value.encode() in hit.value for hit in DETECTOR.hits(text.encode())), spelled


@pytest.mark.parametrize(("rule", "name", "template"), NAMED, ids=IDS)
def test_a_named_value_is_found_where_another_sign_or_only_a_space_is_between(rule, name, template):
    value = expand(template, 12)
    texts = [f"<{name}>{value}</{name}>", f"'{name.lower()}' => '{value}',", f"| {name.lower():<28} | {value} |"]
    if rule not in ONE_WAY | {"search-service-assignment"}:
        texts += [f"ENV {name} {value}", f"deploy --{name.lower().replace('_', '-')} {value} --verbose"]
    for text in texts:
        assert any(value.encode() in hit.value for hit in DETECTOR.hits(text.encode())), text


def test_where_only_a_space_is_between_no_other_word_is():
    pattern = re.compile(named("exa_api_key", "[0-9]{8}"))
    value = expand("<digit:8>")
    assert pattern.search(f"--exa-api-key {value}")
    assert not pattern.search(f"exa_api_key of build {value}")


def test_there_are_many_of_them():
    assert len(NAMED) > 150


def test_another_name_is_no_spelling():
    pattern = re.compile(named("exa_api_key", "[0-9]{8}"))
    value = expand("<digit:8>")
    assert all(pattern.search(f"{name}={value}") for name in ("EXA_API_KEY", "exa-api-key", "exaApiKey", "exa.api.key"))
    assert not any(
        pattern.search(f"{name}={value}") for name in ("hexaApiKey", "exa_api", "exa__api__key", "exa/api/key")
    )


def test_a_character_class_of_a_pattern_stays_as_it_is():
    assert "[a-z0-9_. -]{0,20}secret" in named("some[a-z0-9_. -]{0,20}secret", "x")


def test_keywords_are_there_for_each_spelling():
    assert spellings("api_key") == ("api_key", "api-key", "api.key", "apikey")
