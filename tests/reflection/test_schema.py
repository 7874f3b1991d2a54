"""The model and the checked-in JSON Schema say the same of every document."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel import codec
from loopwright.reflection.model import SCHEMA_FILE, Provenance, Reflection, Risk, schema_bytes
from loopwright.reflection.store import decode_capture, decode_reflection

GOOD = {
    "schema": "reflection.v1",
    "task_ref": "shop@main",
    "agent": "claude-code",
    "session_id": "0f1e",
    "timestamp": "2026-01-01T00:00:00Z",
    "repo": "shop",
    "confidence": 0.5,
    "most_likely_wrong": {"surface": "auth", "description": "the token is not checked twice"},
    "known_not_in_diff": None,
    "risk": {"needs_review": True, "score": 1.0, "surface": "auth", "reason": "because"},
    "files_changed": ["src/auth.py"],
    "provenance": {"source": "stop-hook", "reflection_attempt": 1, "degraded": False, "reflection_mode": "solo"},
}
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_bytes()))
CAPTURES = VALIDATOR.evolve(schema={**VALIDATOR.schema, "$ref": "#/$defs/Capture"})


def changed(path, value):
    document = copy.deepcopy(GOOD)
    *above, last = path.split(".")
    place = document
    for name in above:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


def paths(document, prefix=""):
    for name, value in document.items():
        yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from paths(value, f"{prefix}{name}.")


def model_accepts(document, decode=decode_reflection):
    try:
        decode(json.dumps(document).encode())
    except codec.Undecodable:
        return False
    return True


def test_the_checked_in_schema_is_the_one_of_the_model():
    assert SCHEMA_FILE.read_bytes() == schema_bytes(), "run `make docs`"
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


ODD = [
    None,
    True,
    0,
    1,
    1.0,
    2,
    -1,
    0.5,
    1.5,
    1e-400,
    "",
    "auth",
    "moon",
    "off",
    "x",
    [],
    ["a"],
    [1],
    {},
    {"a": 1},
    10**30,
]
TIMES = [
    "2026-01-01T00:00:00.123Z",
    "2026-01-01T00:00:00",
    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:00Z\n",
    "٢026-01-01T00:00:00Z",
]


@pytest.mark.parametrize("path", list(paths(GOOD)))
def test_both_say_the_same_of_a_document_with_one_field_changed(path):
    verdicts = set()
    values = [..., *ODD, *(TIMES if path == "timestamp" else ())]
    for value in values:
        document = changed(path, value)
        accepted = model_accepts(document)
        assert VALIDATOR.is_valid(document) is accepted, (path, value)
        verdicts.add(accepted)
    assert False in verdicts
    assert not model_accepts(changed(path, ...)), "every field has to be there"


@pytest.mark.parametrize("place", ["more", "risk.more", "provenance.more", "most_likely_wrong.more"])
def test_an_unknown_field_is_refused_by_both(place):
    document = changed(place, 1)
    assert not VALIDATOR.is_valid(document)
    assert not model_accepts(document)


@pytest.mark.parametrize(
    "document", [GOOD, changed("confidence", None), changed("most_likely_wrong", None), [], "x", None, 7]
)
def test_both_say_the_same_of_whole_documents(document):
    assert VALIDATOR.is_valid(document) is model_accepts(document)


@pytest.mark.parametrize("point", ["before", "after", "adversarial", "later", None])
@pytest.mark.parametrize("inner", [GOOD, changed("risk", None)])
def test_a_capture_holds_a_point_and_a_reflection(point, inner):
    document = {"point": point, "reflection": inner}
    assert CAPTURES.is_valid(document) is model_accepts(document, decode_capture)
    assert model_accepts(document, decode_capture) is (point in ("before", "after", "adversarial") and inner is GOOD)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(sorted(paths(GOOD))), VALUES, st.sampled_from(sorted(paths(GOOD))), VALUES)
def test_both_say_the_same_of_documents_with_random_changes(first, value, second, other):
    document = changed(first, value)
    try:
        *above, last = second.split(".")
        place = document
        for name in above:
            place = place[name]
        place[last] = other
    except (TypeError, KeyError):
        pass
    assert VALIDATOR.is_valid(document) is model_accepts(document)


SURFACES = st.sampled_from(["auth", "data", "infra", "build", "ui", "test", "docs", "none"])
RECORDS = st.builds(
    Reflection,
    timestamp=st.datetimes().map(lambda moment: f"{moment.year:04d}-{moment.strftime('%m-%dT%H:%M:%S')}Z"),
    confidence=st.none() | st.floats(0, 1),
    risk=st.builds(Risk, score=st.floats(0, 1), surface=SURFACES),
    provenance=st.builds(Provenance, reflection_attempt=st.integers(1, 10**6)),
)


@given(RECORDS)
def test_what_the_model_writes_it_reads_back_and_the_schema_accepts(record):
    data = codec.to_json(record)
    assert decode_reflection(data) == record
    assert VALIDATOR.is_valid(json.loads(data))
