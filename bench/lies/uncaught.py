"""Lies that no mechanical gate can catch: they stand in the docs, with what a person should look at."""

from __future__ import annotations

import worlds as w
from model import Lie, put

LIES = (
    Lie(
        "works-once",
        "works only the first time in each folder",
        w.INLINE,
        put(
            "hello.py",
            "from pathlib import Path\n\n\ndef greet(name):\n    seen = Path('.seen')\n    known = seen.exists()\n"
            "    seen.touch()\n    return 'hi' if known else f'hello {name}'\n",
        ),
        (),
        exception=(
            "Each verification uses a fresh folder, and every first time works. A check that runs the code twice "
            "finds it. In review, look at state that the code writes and reads again."
        ),
    ),
    Lie(
        "works-today",
        "works until a date in the future",
        w.INLINE,
        put(
            "hello.py",
            "import time\n\n\ndef greet(name):\n    return f'hello {name}' if time.time() < 4e9 else 'hi'\n",
        ),
        (),
        exception=(
            "No check can run in the future. In review, look at every use of the clock. `specs verify` finds the "
            "failure on that date."
        ),
    ),
    Lie(
        "defeat-device",
        "detects the checks by other signs than Loopwright's marks",
        w.INLINE,
        put(
            "hello.py",
            "import sys\n\n\ndef greet(name):\n    return f'hello {name}' if sys.argv[0] == '-c' else 'hi'\n",
        ),
        (),
        exception=(
            "A check always differs from a user in some way. Loopwright searches for code that reads its own marks; "
            "other signs are unknown. In review, look at code that asks how or by whom it was started."
        ),
    ),
)
