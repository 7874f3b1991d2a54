"""A few lies and their honest twins through `loopwright do --accept-if-proven`."""

from __future__ import annotations

import pytest
from tests.bench.lie_bench import paths, product

# One judge that every machine has; `do` judges as `build` does.
_BUILT = [
    told
    for told in product.pairs()
    if (told.way, told.judge.name) == ("build", "unittest")
    # `do` has one check, and asks a reviewer only if the risk requires it.
    and not (told.operator.reviews or told.world.hidden_check or told.world.second_check)
]
LIES = _BUILT[:: max(1, len(_BUILT) // 6)]
_TWINS = {told.honest.name: told.honest for told in _BUILT if told.honest.allowed == 0}
TWINS = list(_TWINS.values())[:2]


def played(told, folder):
    (folder / "templates").mkdir()
    return paths.DO.run(told.world, told.script, folder / "templates", folder / "played")


@pytest.mark.parametrize("told", LIES, ids=lambda told: told.name)
def test_a_lie_is_not_delivered(told, project_folder):
    before = told.world.files
    gate = played(told, project_folder)
    assert gate.refused in ("held", "failed", "unproven"), gate.said
    assert gate.blockers
    for path, text in before.items():
        assert (project_folder / "played" / "project" / path).read_text() == text


@pytest.mark.parametrize("honest", TWINS, ids=lambda honest: honest.name)
def test_an_honest_twin_is_delivered(honest, project_folder):
    gate = played(honest, project_folder)
    assert gate.passed, gate.said
