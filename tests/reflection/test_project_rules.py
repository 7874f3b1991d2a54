"""A project's own rules: they add, lowering is explicit and named in every verdict, and bad ones are named by key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.reflection.default_rules import DEFAULT
from loopwright.reflection.project_rules import MOST_RULES, ProjectRule, with_project_rules
from loopwright.reflection.risk import evaluate_risk_floor
from loopwright.reflection.rule_set import SURFACES


def verdict(files, *own, lines=None):
    return evaluate_risk_floor(files, lines, rules=with_project_rules(DEFAULT, own))


def test_a_rule_adds_by_word_and_by_path():
    rule = ProjectRule("data", words=frozenset({"voucher"}), paths=("services/pay/**", "*.ledger"))
    for path in ("src/VoucherView.ts", "vouchers.py", "services/pay/a/b.go", "x/y.ledger"):
        found = verdict([path], rule)
        assert (found.surface, found.score) == ("data", 0.9), path
        assert "this project" in found.hits[0].why
    assert verdict(["invoiced.py"], rule).surface == "none"
    assert verdict(["services/payroll/a.go"], rule).surface == "none"
    assert verdict(["src/auth.py"], rule).surface == "auth"
    assert "lowers" not in verdict(["x.py"], rule).reason


def test_a_rule_may_have_a_weight_of_its_own_and_reaches_into_tests_and_docs():
    rule = ProjectRule("data", paths=("tests/golden/",), weight=0.95)
    assert verdict(["tests/golden/x.json"], rule).score == 0.95
    light = ProjectRule("data", paths=("x/",), weight=0.3)
    assert verdict(["x/y.py"], light).score == 0.3
    assert verdict(["x/y.sql"], light).score == 0.9


def test_a_surface_can_be_made_heavier_without_a_word_in_the_reason():
    found = verdict(["a.css"], ProjectRule("ui", weight=0.7))
    assert found.score == 0.7
    assert "lowers" not in found.reason


@pytest.mark.parametrize("files", [["package.json"], ["src/auth.py"], ["x.py"], []])
def test_lowering_is_named_in_every_verdict(files):
    surface = ProjectRule("build", weight=0.3, lower=True, because="bots renew them")
    paths = ProjectRule("none", words=frozenset({"token"}), paths=("src/lexer/**",), lower=True)
    found = verdict(files, surface, paths)
    assert "this project lowers build from 0.6 to 0.3 (bots renew them)" in found.reason
    assert 'this project lowers files of word "token", path "src/lexer/**" to none (0)' in found.reason


def test_lowering_does_what_it_says_and_no_more():
    lower = ProjectRule("none", paths=("src/lang/",), lower=True)
    add = ProjectRule("data", paths=("src/lang/store.py",))
    assert verdict(["src/lang/session.py"], lower).surface == "none"
    assert verdict(["src/session.py"], lower).surface == "auth"
    for order in ([lower, add], [add, lower]):
        assert verdict(["src/lang/store.py"], *order).surface == "data"
    build = ProjectRule("build", weight=0.3, lower=True)
    assert verdict(["package.json"], build).score == 0.3
    assert verdict(["package.json", "a.css"], build).surface == "ui"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (ProjectRule("authz", words=frozenset({"x"})), "risk.rules[0].surface: authz"),
        (ProjectRule("auth"), "risk.rules[0]: needs words, paths or a weight"),
        (ProjectRule("auth", weight=0.4), "risk.rules[0].weight: 0.4 is less than auth's 1; set lower = true"),
        (ProjectRule("ui", weight=0.9, lower=True), "risk.rules[0].lower"),
        (ProjectRule("ui", weight=1.5), "risk.rules[0].weight"),
        (ProjectRule("ui", weight=float("nan"), words=frozenset({"x"})), "risk.rules[0].weight"),
        (ProjectRule("ui", words=frozenset({"two words"})), "risk.rules[0].words: 'two words' is not one word"),
        (ProjectRule("ui", words=frozenset({""})), "risk.rules[0].words"),
        (ProjectRule("ui", words=frozenset({"Pay"})), "lower case"),
        (ProjectRule("ui", words=frozenset({"pay.*"})), "risk.rules[0].words"),
        (ProjectRule("ui", paths=("[a-z]",)), "risk.rules[0].paths: '[a-z]' may contain"),
        (ProjectRule("none", paths=("x",)), "set lower = true"),
    ],
)
def test_a_bad_rule_is_named_by_its_key(rule, said):
    with pytest.raises(ValueError, match=r"risk\.rules") as caught:
        with_project_rules(DEFAULT, [rule])
    assert said in str(caught.value)


def test_every_problem_is_told_at_once():
    rules = [ProjectRule("x"), ProjectRule("ui", weight=0.5), ProjectRule("ui", weight=0.6), ProjectRule("data")]
    with pytest.raises(ValueError, match="more than once") as caught:
        with_project_rules(DEFAULT, rules)
    assert "risk.rules[0]" in str(caught.value)
    assert "risk.rules[3]" in str(caught.value)
    with pytest.raises(ValueError, match="the limit is"):
        with_project_rules(DEFAULT, [ProjectRule("ui", words=frozenset({"x"}))] * (MOST_RULES + 1))


@given(
    st.lists(
        st.builds(
            ProjectRule,
            st.sampled_from(SURFACES[:-1]),
            words=st.just(frozenset({"pay"})),
            paths=st.sampled_from([(), ("src/",), ("**",)]),
            weight=st.one_of(st.none(), st.floats(0, 1)),
        ),
        max_size=4,
    ),
    st.lists(st.sampled_from(["src/pay.py", "auth.py", "a.css", "x"]), max_size=3),
)
def test_rules_that_add_never_lower(own, files):
    assert verdict(files, *own).score >= evaluate_risk_floor(files).score
