"""The store of runs: names are never reused, evidence is linked, and a run whose process died is found."""

from __future__ import annotations

import pytest

from loopwright.errors import DamagedFile, UnknownRun
from loopwright.evidence.model import PreviousRun
from loopwright.evidence.store import (
    EVIDENCE,
    Abandoned,
    RunOrigin,
    RunStore,
    decode_evidence,
    encode_evidence,
    in_order_of_links,
    redacted_to_text,
)
from loopwright.kernel.digest import sha256
from loopwright.kernel.locks import is_held
from loopwright.redaction.model import seal
from loopwright.workspace.layout import Layout

AT = "2026-01-01T00:00:00Z"


def journal_of(store):
    return [(entry.kind, entry.data) for entry in store.journal.entries()]


def test_a_claim_is_journaled_with_its_origin_and_held_until_it_is_released(store, layout):
    folder = store.claim("a name", RunOrigin("earlier", "loop-1", "greet"), AT)
    assert folder.run_id == "a-name"
    assert [path.name for path in folder.path.iterdir()] == ["logs"]
    facts = {"run_id": "a-name", "rerun_of": "earlier", "loop_id": "loop-1", "workflow": "greet"}
    assert journal_of(store) == [("run.started", facts)]
    assert store.journal.entries()[0].at == AT
    assert is_held(layout.lock("run-a-name"))
    folder.release()
    assert not layout.lock("run-a-name").exists()


@pytest.mark.parametrize(
    ("origin", "kind"),
    [
        (RunOrigin(), "run"),
        (RunOrigin(rerun_of="a"), "rerun"),
        (RunOrigin(rerun_of="a", loop_id="b"), "loop"),
        (RunOrigin(loop_id="b", workflow="c"), "workflow"),
    ],
)
def test_the_kind_of_a_run_follows_from_its_origin(origin, kind):
    assert origin.kind == kind


def test_a_used_name_gets_a_number(store, layout):
    first = store.claim("one", RunOrigin(), AT)
    assert store.claim("one", RunOrigin(), AT).run_id == "one-2"
    first.release()
    (first.path / "logs").rmdir()
    first.path.rmdir()
    assert store.claim("one", RunOrigin(), AT).run_id == "one-3", "the journal still names the first"
    (layout.runs / "theirs").mkdir()
    assert store.claim("theirs", RunOrigin(), AT).run_id == "theirs-2"
    assert not layout.lock("run-theirs").exists(), "a lock would make it a run of this store"


def test_evidence_is_linked_to_the_run_before(store, record):
    first, second = record("one"), record("two")
    data = (store.folder("one") / EVIDENCE).read_bytes()
    assert first.previous is None
    assert second.previous == PreviousRun(run_id="one", evidence_sha256=sha256(data))
    assert store.load("two") == (second, encode_evidence(second))
    assert store.recorded()[0].data == {"run_id": "one", "evidence_sha256": sha256(data)}
    assert store.recorded()[0].at == first.finished_at


def test_a_written_file_has_its_digest(store):
    folder = store.claim("one", RunOrigin(), AT)
    assert folder.write("summary.md", seal(b"text")) == sha256(b"text")
    assert (folder.path / "summary.md").read_bytes() == b"text"
    folder.open_log("P-1-1", 100).close()
    assert (folder.path / "logs" / "P-1-1.log").is_file()


@pytest.mark.parametrize(
    ("name", "result"),
    [
        (None, "delta-1-2"),
        ("alpha-1", "alpha-1"),
        ("alpha", "alpha"),
        ("be", "beta"),
        ("alp", "'alp' matches several runs: alpha, alpha-1"),
        ("gamma", "there is no run 'gamma'"),
        ("bet", "beta"),
        ("delta-1", "there is no run 'delta-1'"),
        ("delt", "delta-1-2"),
    ],
)
def test_a_run_is_named_by_its_id_or_by_a_unique_prefix(store, record, name, result):
    for run in ("alpha-1", "alpha", "beta", "delta-1-2"):
        record(run)
    if " " not in result:
        assert store.resolve(name) == result
        return
    with pytest.raises(UnknownRun) as refused:
        store.resolve(name)
    assert refused.value.message == result
    assert refused.value.hint == "the last runs are: alpha-1, alpha, beta, delta-1-2"


def test_at_most_five_runs_are_named(store, record):
    for number in range(7):
        record(f"run-{number}")
    with pytest.raises(UnknownRun) as refused:
        store.resolve("run")
    assert refused.value.message == "'run' matches several runs: run-0, run-1, run-2, run-3, run-4"
    assert refused.value.hint == "the last runs are: run-2, run-3, run-4, run-5, run-6"


def test_a_run_that_gc_removed_is_not_resolved(store, record):
    with pytest.raises(UnknownRun, match="no run is recorded"):
        store.resolve(None)
    record("one")
    store.record_collected("one", AT)
    assert store.collected() == {"one"}
    with pytest.raises(UnknownRun, match="the run one was removed by gc"):
        store.resolve("one")


def test_a_missing_folder_is_journaled_once(store, record):
    for run in ("one", "two", "three"):
        record(run)
    store.record_collected("one", AT)
    for run in ("one", "two"):
        store.folder(run).rename(store.folder(run).with_name(f"moved-{run}"))
    assert store.record_missing(AT) == ["two"]
    assert store.record_missing(AT) == []
    why = "found missing after the journal was damaged"
    assert journal_of(store)[-1] == ("run.collected", {"run_id": "two", "why": why})
    store.claim("unfinished", RunOrigin(), AT).path.rename(store.folder("moved"))
    assert store.record_missing(AT) == [], "a run that was never recorded"


def die(store, evidence, name, **changes):
    """A run whose process died, after its evidence was written if there are changes."""
    folder = store.claim(name, RunOrigin(rerun_of="other"), AT)
    if changes:
        (folder.path / EVIDENCE).write_bytes(encode_evidence(evidence(name, **changes)))
    folder.lock.release()
    return folder


def test_runs_of_dead_processes_are_found_in_the_order_of_their_links(store, record, evidence):
    record("recorded")
    living = store.claim("living", RunOrigin(), AT)
    link = PreviousRun(run_id="b", evidence_sha256="0" * 64)
    die(store, evidence, "a", finished_at="2026-01-01T00:00:01Z", previous=link)
    die(store, evidence, "b", finished_at="2026-01-01T00:00:02Z")
    die(store, evidence, "unfinished")
    found = store.abandoned()
    assert [run.run_id for run in found] == ["b", "a", "unfinished"]
    assert found[0] == Abandoned("b", store.folder("b"), RunOrigin(rerun_of="other"))
    living.release()
    assert "living" in {run.run_id for run in store.abandoned()}


def test_a_folder_that_the_journal_does_not_name_is_ours_by_its_lock_or_its_evidence(store, layout, evidence):
    layout.runs.mkdir(parents=True)
    assert RunStore(Layout(layout.root / "empty", layout.flavour, layout.home)).abandoned() == []
    for name in ("theirs", "locked", "ours", "renamed"):
        (layout.runs / name).mkdir()
    layout.lock("run-locked").parent.mkdir(parents=True, exist_ok=True)
    layout.lock("run-locked").touch()
    (layout.runs / "ours" / EVIDENCE).write_bytes(encode_evidence(evidence("ours")))
    (layout.runs / "renamed" / EVIDENCE).write_bytes(encode_evidence(evidence("another")))
    (layout.runs / "link").symlink_to(layout.runs / "ours")
    (layout.runs / "file").touch()
    assert {run.run_id for run in store.abandoned()} == {"locked", "ours"}
    assert store.has_evidence("ours")
    assert not store.has_evidence("locked")


def test_a_missing_run_that_another_links_to_is_not_abandoned(store, record, evidence):
    die(store, evidence, "gone")
    link = PreviousRun(run_id="gone", evidence_sha256="0" * 64)
    die(store, evidence, "later", previous=link)
    assert {run.run_id for run in store.abandoned()} == {"gone", "later"}
    (store.folder("gone") / "logs").rmdir()
    store.folder("gone").rmdir()
    assert {run.run_id for run in store.abandoned()} == {"later"}


def test_a_complete_run_is_adopted_with_the_link_that_the_journal_lost(store, evidence):
    link = PreviousRun(run_id="gone", evidence_sha256="0" * 64)
    die(store, evidence, "later", previous=link)
    store.adopt("later", AT)
    store.adopt("later", AT)
    data = sha256((store.folder("later") / EVIDENCE).read_bytes())
    assert journal_of(store)[1:] == [
        ("run.recorded", {"run_id": "gone", "evidence_sha256": "0" * 64}),
        ("run.collected", {"run_id": "gone"}),
        ("run.recorded", {"run_id": "later", "evidence_sha256": data}),
    ]


def test_adopting_restores_no_link_to_a_run_that_is_known_or_still_exists(store, record, evidence):
    record("known")
    die(store, evidence, "first", previous=PreviousRun(run_id="known", evidence_sha256="0" * 64))
    die(store, evidence, "exists")
    die(store, evidence, "second", previous=PreviousRun(run_id="exists", evidence_sha256="0" * 64))
    die(store, evidence, "alone", previous=None)
    for run in ("first", "second", "alone"):
        store.adopt(run, AT)
    assert [entry.data["run_id"] for entry in store.recorded()] == ["known", "first", "second", "alone"]
    assert store.collected() == set()


def test_a_folder_with_the_evidence_of_another_run_is_not_adopted(store, evidence):
    folder = die(store, evidence, "one")
    (folder.path / EVIDENCE).write_bytes(encode_evidence(evidence("another")))
    store.adopt("one", AT)
    assert store.recorded() == []


def test_a_dead_run_is_reclaimed_once(store, layout, evidence):
    folder = die(store, evidence, "one")
    (folder.path / "logs").rmdir()
    taken = store.reclaim("one")
    assert (taken.run_id, taken.path, taken.lock_path) == ("one", folder.path, layout.lock("run-one"))
    assert (folder.path / "logs").is_dir()
    assert store.reclaim("one") is None
    taken.release()


@pytest.mark.parametrize(
    ("facts", "order"),
    [
        ({}, []),
        ({"b": ("1", None), "a": ("1", None)}, ["a", "b"]),
        ({"a": ("2", None), "b": ("1", None)}, ["b", "a"]),
        ({"a": ("1", "b"), "b": ("2", "c"), "c": ("3", "unknown")}, ["c", "b", "a"]),
        ({"a": ("1", "b"), "b": ("2", "a")}, ["b", "a"]),
        ({"a": ("1", "a")}, ["a"]),
    ],
    ids=["none", "by name", "by time", "by links", "a circle", "itself"],
)
def test_each_run_follows_the_run_that_it_links_to(facts, order):
    assert in_order_of_links(facts) == order


def test_evidence_that_cannot_be_read_names_the_file_and_the_problem(store, layout, tmp_path):
    with pytest.raises(DamagedFile, match=r"missing/evidence\.json can't be read: No such file") as missing:
        store.load("missing")
    assert "loopwright verify" in missing.value.hint
    with pytest.raises(DamagedFile, match=r"dence\.json is not evidence that this version can read: .*run_id"):
        decode_evidence(b'{"schema": "loopwright.evidence.v1"}', tmp_path / "evidence.json")


def test_only_redacted_text_becomes_evidence(evidence):
    record = evidence("one", message=seal(b"text \xff"))
    assert decode_evidence(encode_evidence(record), "x").message.text == "text \\xff"
    with pytest.raises(NotImplementedError):
        redacted_to_text(object())


def test_a_number_in_place_of_text_is_damage(evidence):
    data = encode_evidence(evidence("one", message=seal(b"text"))).replace(b'"message": "text"', b'"message": 7')
    with pytest.raises(DamagedFile, match=r"int - at `\$\.message`"):
        decode_evidence(data, "x")
