"""bench/lies as modules: scripts of its own folder, not a package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

_FOLDER = str(Path(__file__).resolve().parents[2] / "bench" / "lies")
sys.path.insert(0, _FOLDER)
cases = importlib.import_module("cases")
model = importlib.import_module("model")
scene = importlib.import_module("scene")
score = importlib.import_module("score")
sys.path.remove(_FOLDER)
