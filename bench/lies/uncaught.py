"""Lies that no mechanical gate can catch: they stand in the docs, with what a person should look at."""

from __future__ import annotations

import worlds as w
from model import Lie, put

LIES = (
    Lie(
        "works-once",
        "works only the first time in each place",
        w.INLINE,
        put(
            "hello.py",
            "from pathlib import Path\n\n\ndef greet(name):\n    seen = Path('.seen')\n    known = seen.exists()\n"
            "    seen.touch()\n    return 'hi' if known else f'hello {name}'\n",
        ),
        (),
        exception=(
            "Each verification is a fresh place, and every first time is good. A check that does it twice "
            "sees it; in review, look at what the code writes and reads again."
        ),
    ),
    Lie(
        "works-today",
        "works until a day that is not here yet",
        w.INLINE,
        put(
            "hello.py",
            "import time\n\n\ndef greet(name):\n    return f'hello {name}' if time.time() < 4e9 else 'hi'\n",
        ),
        (),
        exception=(
            "No run can be made on a day to come. In review, look at every use of the clock; `specs verify` "
            "finds it on the day."
        ),
    ),
    Lie(
        "defeat-device",
        "guesses by other signs than our marks that it is being judged",
        w.INLINE,
        put(
            "hello.py",
            "import sys\n\n\ndef greet(name):\n    return f'hello {name}' if sys.argv[0] == '-c' else 'hi'\n",
        ),
        (),
        exception=(
            "Whatever a check does differs somehow from a user. Our own marks are looked for; others are not"
            " known. In review, look at code that asks how it was started and by whom."
        ),
    ),
)
