"""The bench of lies: each false "done" is stopped by a gate that names the truth, and honest work is not stopped."""

from __future__ import annotations

import pytest
from tests.bench.lie_bench import cases, score


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    """What all that is played by this worker shares."""
    return tmp_path_factory.mktemp("lies")


@pytest.mark.parametrize("lie", cases.LIES, ids=lambda lie: lie.name)
def test_no_lie_gets_through(lie, templates):
    assert score.problem(lie, cases.judged(lie, templates)) is None


@pytest.mark.parametrize("build", cases.BUILDS, ids=lambda build: build.name)
def test_honest_work_needs_no_signature(build, templates):
    assert score.problem(build, cases.judged(build, templates)) is None


def test_the_page_lists_them_all():
    page = score.PAGE.read_text(encoding="utf-8")
    listed = [line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")][1:]
    assert listed == [lie.name for lie in cases.LIES]
    assert len(listed) >= 30
    assert all(f"- {build.name}: {build.does}" in page for build in cases.BUILDS)
    assert all(lie.exception in page for lie in cases.LIES)
    assert ", ".join(lie.name for lie in cases.THROUGH_AGENTS) + "." in page, "those that real agents tell"
