"""The isolation adapters keep their port's contract."""

from __future__ import annotations

import pytest

from loopwright.sandbox.bubblewrap import Bubblewrap
from loopwright.sandbox.landlock import Landlock
from loopwright.sandbox.unconfined import Unconfined
from loopwright.testing.contracts import IsolationContract


@pytest.mark.needs("bwrap")
class TestBubblewrap(IsolationContract):
    def isolation(self):
        return Bubblewrap()


class TestLandlock(IsolationContract):
    @pytest.fixture(autouse=True)
    def _landlock(self):
        reason = Landlock().missing()
        if reason:
            pytest.skip(f"needs Landlock ({reason})")

    def isolation(self):
        return Landlock()


class TestUnconfined(IsolationContract):
    def isolation(self):
        return Unconfined()
