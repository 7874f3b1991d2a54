"""Every rule finds its own true examples and leaves its false ones alone, in both engines."""

from __future__ import annotations

import re

import pytest

from loopwright.redaction.build import PROVIDER_RULES, SHIPPED_RULES
from loopwright.redaction.detector import Detector, compile_pattern
from loopwright.redaction.examples import expand, hits_of, misses_of

SEEDS = range(4)
IDS = [rule.id for rule in SHIPPED_RULES]


def test_there_are_enough_rules_and_their_names_are_unique():
    assert len(PROVIDER_RULES) >= 200
    assert len(set(IDS)) == len(IDS)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in IDS)


def accepted(rule, engine, text):
    matches = ((match, match.span(1 if match.re.groups else 0)) for match in engine.finditer(text))
    return [match for match, (start, end) in matches if rule.accepts(text[:start], text[start:end], text[end:])]


@pytest.mark.parametrize("rule", SHIPPED_RULES, ids=IDS)
def test_a_rule_keeps_its_promises(rule):
    assert hits_of(rule)
    assert len(misses_of(rule)) >= 2
    assert rule.keywords
    assert all(word == word.lower() and len(word) >= 3 for word in rule.keywords)
    linear, plain = compile_pattern(rule.pattern), re.compile(rule.pattern.encode())
    assert plain.groups <= 1
    for template in hits_of(rule):
        for seed in SEEDS:
            text = expand(template, seed).encode()
            for engine in (linear, plain):
                matches = accepted(rule, engine, text)
                assert matches, f"{template} is missed"
                found = bytes(matches[0].group()).lower()
                assert any(word.encode() in found for word in rule.keywords), f"no keyword in {template}"
    for template in misses_of(rule):
        for seed in SEEDS:
            text = expand(template, seed).encode()
            assert not accepted(rule, linear, text), f"{template} is no secret"
            assert not accepted(rule, plain, text), f"{template} is no secret"


@pytest.mark.parametrize("rule", SHIPPED_RULES, ids=IDS)
def test_a_hit_is_found_through_the_sieve_with_all_rules_at_work(rule):
    detector = DETECTOR
    for template in hits_of(rule):
        text = expand(template, 1).encode()
        assert detector.may_hit(text)
        assert any(detector.hits(line) for line in text.split(b"\n")) or detector.hits(text)


DETECTOR = Detector(SHIPPED_RULES, {})

ORDINARY = """
task-management-tool risk-floor-2026 flask-application desk-lamp-2000 name: task-runner-configuration
commit 3f786850e387550fdab836ed7e6dc881de23001b
id: 123e4567-e89b-12d3-a456-426614174000
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
version 10.4.1-beta.3+build.2026
https://example.com/path?page=2&sort=name&token_count=5
PASSED tests/test_tokenizer.py::test_secret_sauce[password-field]
export API_KEY=${API_KEY}
api_key: <your api key here>
password = os.environ["PASSWORD"]
-----BEGIN CERTIFICATE-----
drwxr-xr-x 2 root root 4096 Jan  1 00:00 secrets
npm WARN deprecated token-types@4.0.0
"""


def test_ordinary_text_is_left_alone():
    found = [(line, DETECTOR.hits(line.encode())) for line in ORDINARY.splitlines() if DETECTOR.hits(line.encode())]
    assert found == []
