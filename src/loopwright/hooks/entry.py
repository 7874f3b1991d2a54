"""The entry point of `loopwright-hook`, and the file that harnesses run.

If reflection is off, the hook reads one variable and exits, with built-ins only. It always exits with 0 and never
blocks a session. Only `gate`, called by the agent of an active build, may tell the agent to continue.
"""

import sys

# The module behind `os`, which is always loaded.
_ENVIRON = __import__("nt" if sys.platform == "win32" else "posix").environ
_ON = ("solo", "orchestrated")
# SIGHUP, SIGINT, SIGTERM as numbers: the signal module is not loaded yet.
_STOPS = (2, 15) if sys.platform == "win32" else (1, 2, 15)


def main() -> int:
    """Run the command in the first argument, if the environment enables it."""
    gate = _variable("LOOPWRIGHT_GATE") if sys.argv[1:2] == ["gate"] else ""
    mode = _variable("REFLECTION_MODE")
    if not gate and (mode not in _ON or sys.argv[1:2] == ["gate"]):
        return 0
    try:
        received: list[int] = []
        # From the start: a signal during loading still leads to a record and exit 0.
        for number in _STOPS:
            __import__("_signal").signal(number, lambda number, _: received.append(number))
        # Run as a file, the package is not on the path. Load it by name, so that the disabled hook does not pay for it.
        package = __file__.replace("\\", "/").rsplit("/", 3)[0]
        if package not in sys.path:
            sys.path.append(package)  # last: a neighbour of the package must not replace the standard library
        if gate:
            __import__("loopwright.hooks.gate")
            sys.modules["loopwright.hooks.gate"].run(gate)
            return 0
        __import__("loopwright.hooks.reflect")
        sys.modules["loopwright.hooks.reflect"].run(sys.argv[1:], mode, is_asked_to_stop=bool(received))
    except BaseException:  # noqa: BLE001 -- rule 8: every error ends in exit 0
        return 0
    return 0


def _variable(name: str) -> str:
    """Read a variable without `os`, which takes a quarter of the start-up time. Keys are bytes on POSIX, else text."""
    value: object = _ENVIRON.get(name.encode(), _ENVIRON.get(name, ""))
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    sys.exit(main())
