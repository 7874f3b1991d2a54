"""The risk floor: verdicts, size, claims, and the promise that the same change gets the same verdict everywhere."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import typing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.reflection.change import FEWEST_LOST
from loopwright.reflection.model import Risk, SurfaceName
from loopwright.reflection.risk import Claim, RiskVerdict, evaluate_risk_floor, raised_by
from loopwright.reflection.rule_set import SURFACES, WEIGHTS
from loopwright.reflection.rule_sets import RULE_SETS

SRC = Path(__file__).resolve().parents[2] / "src"
CLASSIC, DEFAULT = RULE_SETS["classic"], RULE_SETS["default"]
ONE_EACH = {
    "auth": "src/auth.py",
    "data": "x.sql",
    "infra": "Dockerfile",
    "build": "package.json",
    "ui": "a.css",
    "test": "a.test.ts",
    "docs": "a.md",
    "none": "src/main.py",
}
PATHS = st.one_of(st.sampled_from(sorted(ONE_EACH.values())), st.text(alphabet="abtuhsA./\\_-é\udcff\nß", max_size=20))
LINES = st.one_of(st.none(), st.integers(0, 10**6))


@pytest.mark.parametrize("rules", [CLASSIC, DEFAULT], ids=lambda rules: rules.name)
@pytest.mark.parametrize("surface", SURFACES)
def test_the_highest_risk_surface_dominates(rules, surface):
    at_most = SURFACES[SURFACES.index(surface) :]
    verdict = evaluate_risk_floor([ONE_EACH[name] for name in at_most], rules=rules)
    assert (verdict.surface, verdict.score) == (surface, WEIGHTS[surface])
    assert verdict.needs_review is (WEIGHTS[surface] >= 0.5)
    assert ONE_EACH[surface] in verdict.reason
    assert f"{rules.name} rules v{rules.version}" in verdict.reason
    assert f"{surface} (" in verdict.reason


@pytest.mark.parametrize(
    ("files", "insertions", "deletions", "needs_review"),
    [
        (["src/main.py"], 3, 0, False),
        (["src/main.py"], 99, 0, False),
        (["src/main.py"], 100, 0, True),
        (["src/main.py"], 0, 249, False),
        (["src/main.py"], 0, 250, True),
        (["package/__init__.py"], 0, 263, True),
        (["src/main.py"], 60, 150, False),
        (["src/main.py"], None, None, False),
        (["src/main.py"], 5000, None, True),
        (["src/main.py"], None, 5000, True),
        (["docs/typo.md"], 1, 1, False),
        (["docs/guide.md"], 300, 0, False),
        (["docs/guide.md"], 400, 0, True),
        (["tests/test_x.py"], 190, 0, False),
        (["tests/test_x.py"], 200, 0, True),
        (["src/x.py", "tests/test_x.py"], 95, 0, False),
        (["src/Button.tsx"], 20, 0, False),
        (["src/Button.tsx"], 40, 0, True),
        (["src/auth.py"], 1, 0, True),
        ([], 10**9, 10**9, False),
    ],
)
def test_size_asks_for_review_where_a_person_would(files, insertions, deletions, needs_review):
    verdict = evaluate_risk_floor(files, insertions, deletions)
    assert verdict.needs_review is needs_review, verdict.reason


def test_classic_has_no_size():
    assert evaluate_risk_floor(["src/main.py"], 10**6, 10**6, rules=CLASSIC).score == 0.0
    assert evaluate_risk_floor(["src/main.py"], 1, 240, rules=CLASSIC, lost={"src/main.py": (240, 240)}).score == 0.0


@pytest.mark.parametrize(
    ("lost", "needs_review"),
    [
        ({"pkg/main.py": (240, 240)}, True),
        ({"pkg/main.py": (120, 120)}, True),
        ({"pkg/main.py": (20, 40)}, True),
        ({"pkg/main.py": (20, 41)}, False),
        ({"pkg/main.py": (19, 19)}, False),
        ({"pkg/a.py": (10, 12), "pkg/b.py": (10, 15)}, True),
        ({"pkg/main.py": (60, 61), "pkg/other.py": (1, 5000)}, True),
        ({"pkg/main.py": (0, 0)}, False),
        ({"pkg/api.pb.go": (200, 200)}, False),
        ({"pkg/generated/api.py": (200, 200)}, False),
        ({"static/app.min.js": (200, 200)}, False),
        ({"tests/test_main.py": (200, 200)}, False),
        ({"docs/guide.md": (200, 200)}, False),
        ({"data/rows.csv": (200, 200)}, False),
        ({"docs/conf.py": (30, 30)}, True),
    ],
)
def test_work_that_removes_most_of_a_part_needs_review_whatever_its_size(lost, needs_review):
    removed = sum(lines for lines, _ in lost.values())
    verdict = evaluate_risk_floor(lost, 1, removed, lost=lost)
    assert verdict.needs_review is needs_review, verdict.reason
    assert ("most lines are removed from" in verdict.reason) is needs_review


def test_no_rule_needs_fewer_lost_lines_than_a_reader_counts():
    assert all(rules.loss is None or rules.loss.lines >= FEWEST_LOST for rules in RULE_SETS.values())


@given(st.floats(0, 1), st.integers(0, 1000))
def test_a_printed_score_says_the_same_as_the_verdict(score, thousandths):
    threshold = thousandths / 1000
    verdict = evaluate_risk_floor(["a.css"], threshold=threshold).replaced(score=round(score, 9))
    assert (float(verdict.shown_score()) >= threshold) is verdict.needs_review


def test_the_curve_is_the_one_in_the_docs():
    scores = [evaluate_risk_floor(["src/main.py"], lines, 0).score for lines in (0, 1, 10, 25, 50, 100, 200, 1000)]
    assert scores == [0.0, 0.024038462, 0.178571429, 0.3125, 0.416666667, 0.5, 0.875, 0.995]


def test_the_table_in_the_docs_is_what_it_says():
    text = (SRC.parent / "docs" / "risk.md").read_text(encoding="utf-8")
    paths = {"unknown files": "x.py", "a style sheet": "a.css", "tests only": "tests/x.py", "prose only": "a.md",
             "a manifest": "package.json"}  # fmt: skip
    for name, path in paths.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
        cells = [cell.strip().strip("*") for cell in row.split("|")[2:-1]]
        scores = [evaluate_risk_floor([path], lines, 0).score for lines in (3, 25, 50, 100, 200, 1000)]
        assert cells == [f"{score:.3f}"[1:] for score in scores]
    rows = re.findall(r"^\| `(\w+)` \| ([0-9.]+) \|", text, re.MULTILINE)
    assert {surface: float(weight) for surface, weight in rows} == WEIGHTS


@given(st.lists(PATHS, max_size=6), st.lists(PATHS, max_size=3), LINES, LINES, st.sampled_from([CLASSIC, DEFAULT]))
def test_more_files_and_more_lines_never_lower_a_score(files, more, insertions, deletions, rules):
    score = evaluate_risk_floor(files, insertions, deletions, rules=rules).score
    assert 0 <= score <= 1
    assert evaluate_risk_floor(files + more, insertions, deletions, rules=rules).score >= score
    assert evaluate_risk_floor(files, (insertions or 0) + 1, deletions, rules=rules).score >= score
    assert evaluate_risk_floor(files, insertions, (deletions or 0) + 1, rules=rules).score >= score


@given(st.integers(0, 5000), st.sampled_from([path for name, path in ONE_EACH.items() if name != "auth"]))
def test_one_line_more_is_a_higher_score(lines, path):
    assert evaluate_risk_floor([path], lines + 1, 0).score > evaluate_risk_floor([path], lines, 0).score


@given(st.lists(PATHS, max_size=8), LINES, LINES, st.randoms(use_true_random=False))
def test_order_and_duplicates_change_nothing(files, insertions, deletions, chance):
    verdict = evaluate_risk_floor(files, insertions, deletions)
    shuffled = files + files[: len(files) // 2]
    chance.shuffle(shuffled)
    assert evaluate_risk_floor(shuffled, insertions, deletions) == verdict


@given(st.lists(PATHS, max_size=8), LINES, LINES)
def test_a_verdict_is_a_valid_record_whatever_the_names(files, insertions, deletions):
    record = evaluate_risk_floor(files, insertions, deletions).record()
    back = msgspec.json.decode(json.dumps(record, ensure_ascii=False).encode(), type=Risk)
    assert msgspec.to_builtins(back) == record


def test_the_record_knows_the_same_surfaces():
    assert typing.get_args(SurfaceName) == SURFACES


PROGRAM = """
import sys; sys.path.insert(0, sys.argv[1])
import locale
try: locale.setlocale(locale.LC_ALL, "")
except locale.Error: pass
from loopwright.reflection.risk import evaluate_risk_floor
from loopwright.reflection.rule_sets import RULE_SETS
files = [line.rstrip("\\n") for line in open(sys.argv[2], encoding="utf-8", newline="\\n")]
for rules in RULE_SETS.values():
    v = evaluate_risk_floor(files, 120, 30, rules=rules)
    print(ascii((v.record(), [(h.path, h.surface, h.why) for h in v.hits])))
"""


def test_locale_and_hash_seed_change_nothing(tmp_path):
    names = [
        *ONE_EACH.values(),
        "SESSION.ts",
        "Sİgnİn.py",
        "SIGNIN.py",
        "ılogin.py",
        "straße/auth.py",
        "LOGIN/ı",
        "é.md",
    ]
    random.Random(1).shuffle(names)
    listed = tmp_path / "names"
    listed.write_text("\n".join(names) + "\n", encoding="utf-8")
    said = set()
    for seed, language in [("0", "C"), ("1", "C.UTF-8"), ("2", "tr_TR.UTF-8"), ("3", "de_DE.UTF-8"), ("4", "POSIX")]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, SRC, listed],
            env={"LC_ALL": language, "LANG": language, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        said.add(done.stdout)
    assert len(said) == 1
    assert said.pop().count(b"auth") > 10


def test_the_hook_can_afford_it():
    """In `python -I -S` nothing is loaded that json has not loaded, and no pattern is compiled."""
    script = (
        f"import sys; sys.path.insert(0, {str(SRC)!r})\n"
        "import json, re, __future__\n"
        "re.compile = re._compile = None\n"
        "before = set(sys.modules)\n"
        "import loopwright.reflection.risk as risk, loopwright.reflection.project_rules as own\n"
        "import loopwright.reflection.change as change\n"
        "assert change.parse_diff(b'1\\t0\\tx\\0').insertions == 1\n"
        "assert change.parse_status(b'? x\\0').files == ('x',)\n"
        "rules = own.with_project_rules(risk.DEFAULT, [own.ProjectRule('data', paths=('pay/**',))])\n"
        "v = risk.evaluate_risk_floor(['src/auth/K8s.ts', 'tests/x', 'pay/x'], 1, 1, rules=rules)\n"
        "assert v.needs_review\n"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('loopwright')))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reason_names_a_few_files_and_counts_the_rest():
    reason = evaluate_risk_floor([f"auth/{number:03}.py" for number in range(40)] + ["x.py"]).reason
    assert "auth/000.py, auth/001.py, auth/002.py, auth/003.py, auth/004.py and 35 more" in reason
    assert "x.py" not in reason
    long = evaluate_risk_floor(["auth/" + "x" * 4000]).reason
    assert len(long) < 300


def test_the_reason_names_the_lines_where_they_raised_it():
    assert "+40 -2 lines raise it from 0.40 to 0.52" in evaluate_risk_floor(["a.css"], 40, 2).reason
    assert "lines" not in evaluate_risk_floor(["a.css"]).reason
    assert "lines" not in evaluate_risk_floor(["auth.py"], 40, 2).reason
    assert "nothing changed" in evaluate_risk_floor([]).reason


@pytest.mark.parametrize(("threshold", "needs_review"), [(0.0, True), (1.0, False), (float("nan"), True), (0.85, True)])
def test_the_threshold_decides_and_is_named(threshold, needs_review):
    verdict = evaluate_risk_floor(["Dockerfile"], threshold=threshold)
    assert verdict.needs_review is needs_review
    assert f"review from {threshold:g}" in verdict.reason


@pytest.mark.parametrize(
    ("claim", "score", "surface"),
    [
        (Claim("auth"), 1.0, "auth"),
        (Claim("build", 0.9), 0.6, "build"),
        (Claim("docs", 0.3), 0.7, "ui"),
        (Claim(confidence=0.0), 1.0, "ui"),
        (Claim("data", 0.0), 1.0, "data"),
        (Claim(), 0.4, "ui"),
        (Claim("none", 1.0), 0.4, "ui"),
        (Claim("nonsense", float("nan")), 0.4, "ui"),
        (Claim("auth-ish", 7.0), 0.4, "ui"),
    ],
)
def test_a_claim_raises(claim, score, surface):
    verdict = evaluate_risk_floor(["a.css"])
    raised = raised_by(verdict, claim)
    assert (raised.score, raised.surface) == (score, surface)
    assert ("own report" in raised.reason) is (score > verdict.score)


@given(
    st.lists(PATHS, max_size=4),
    LINES,
    st.one_of(st.none(), st.sampled_from(SURFACES), st.text(max_size=5)),
    st.one_of(st.none(), st.floats()),
)
def test_a_claim_never_lowers(files, lines, surface, confidence):
    verdict = evaluate_risk_floor(files, lines)
    raised = raised_by(verdict, Claim(surface, confidence))
    assert raised.score >= verdict.score
    assert raised.needs_review or not verdict.needs_review
    assert raised.reason.startswith(verdict.reason)
    assert 0 <= raised.score <= 1


def test_values_are_immutable_and_complete():
    verdict = evaluate_risk_floor(["a.css"])
    with pytest.raises(AttributeError, match="can't be changed"):
        verdict.score = 0.0
    with pytest.raises(TypeError, match="takes score, surface"):
        RiskVerdict(0.5)
    with pytest.raises(TypeError, match="takes surface, confidence"):
        Claim(sureness=1)
    assert Claim("auth") == Claim("auth", None) != Claim("data")
    assert "surface='auth'" in repr(Claim("auth"))
    assert len(repr(verdict)) < 600
