"""Programs are never searched for in the current folder."""

from __future__ import annotations

import pytest

from loopwright.kernel.ids import without_relative


@pytest.mark.parametrize(
    ("path", "left"),
    [("/a:/b", "/a:/b"), (".:/a", "/a"), ("/a::/b", "/a:/b"), ("bin:/a:node_modules/.bin", "/a"), ("", "")],
)
def test_only_whole_paths_stay(path, left):
    assert without_relative(path) == left
