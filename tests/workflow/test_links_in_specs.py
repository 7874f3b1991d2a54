"""Living specs and archives never lead through a link: it could leave the checkout."""

from __future__ import annotations

import pytest

from loopwright.workflow.delta.model import UnreadableDelta
from loopwright.workflow.living import living_of, obstacle_on_the_way
from loopwright.workspace.layout import Flavour, Layout


@pytest.mark.parametrize("link", ["openspec", "openspec/specs", "openspec/specs/greeting"])
def test_a_spec_behind_a_link_is_not_read(tmp_path, link):
    outside, root = tmp_path / "outside", tmp_path / "project"
    for place in (outside / "specs" / "greeting", outside / "greeting", outside):
        place.mkdir(parents=True, exist_ok=True)
        (place / "spec.md").write_text("# PRIVATE\n")
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside)
    layout = Layout(root, Flavour.UNIFIED, tmp_path)
    assert layout.living_spec("greeting").exists(), "the link leads to a file"
    living = living_of(layout, "greeting")
    assert isinstance(living, UnreadableDelta)
    assert living.problems[0].message == f"{link} is a link or a file, and a folder is required"


def test_the_workspace_itself_may_be_a_link_of_the_person(tmp_path):
    root = tmp_path / "project"
    (tmp_path / "elsewhere").mkdir()
    root.mkdir()
    (root / ".loopwright").symlink_to(tmp_path / "elsewhere")
    layout = Layout(root, Flavour.UNIFIED, tmp_path)
    assert obstacle_on_the_way(layout, layout.living_spec("greeting")) is None
