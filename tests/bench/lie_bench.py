"""bench/lies as modules: scripts of its own folder, not a package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

_FOLDER = str(Path(__file__).resolve().parents[2] / "bench" / "lies")
sys.path.insert(0, _FOLDER)
cases = importlib.import_module("cases")
judges = importlib.import_module("judges")
known_open = importlib.import_module("known_open")
model = importlib.import_module("model")
page = importlib.import_module("page")
paths = importlib.import_module("paths")
product = importlib.import_module("product")
results = importlib.import_module("results")
scene = importlib.import_module("scene")
stops = importlib.import_module("stops")
sys.path.remove(_FOLDER)
