"""The entry of `loopwright-hook`, and the file that harnesses are told to run.

Off, it looks at one variable and is gone: built-ins only up to there. It always exits 0 and never holds up a session;
only `gate`, asked by the agent of a build that is under way, may say that the agent goes on.
"""

import sys

# The module behind `os`, which is there from the start.
_ENVIRON = __import__("nt" if sys.platform == "win32" else "posix").environ
_ON = ("solo", "orchestrated")
# SIGHUP, SIGINT, SIGTERM: the module that has their names is not loaded yet.
_STOPS = (2, 15) if sys.platform == "win32" else (1, 2, 15)


def main() -> int:
    """Do what the first argument says, if the environment says that there is anything to do."""
    gate = _variable("LOOPWRIGHT_GATE") if sys.argv[1:2] == ["gate"] else ""
    mode = _variable("REFLECTION_MODE")
    if not gate and (mode not in _ON or sys.argv[1:2] == ["gate"]):
        return 0
    try:
        asked: list[int] = []
        # From the first moment on: whoever ends us while we load still gets a record, and exit 0.
        for number in _STOPS:
            __import__("_signal").signal(number, lambda number, _: asked.append(number))
        # As a bare file, without site-packages, we are not on the path. Loaded by name: off must not pay for it.
        package = __file__.replace("\\", "/").rsplit("/", 3)[0]
        if package not in sys.path:
            sys.path.append(package)  # last: a package beside us must not stand in for the standard library
        if gate:
            __import__("loopwright.hooks.gate")
            sys.modules["loopwright.hooks.gate"].run(gate)
            return 0
        __import__("loopwright.hooks.reflect")
        sys.modules["loopwright.hooks.reflect"].run(sys.argv[1:], mode, is_asked_to_stop=bool(asked))
    except BaseException:  # noqa: BLE001 -- rule 8: any error anywhere ends in exit 0
        return 0
    return 0


def _variable(name: str) -> str:
    """Without `os`, which alone costs a quarter of the interpreter's start; keys are bytes on POSIX, text elsewhere."""
    value: object = _ENVIRON.get(name.encode(), _ENVIRON.get(name, ""))
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    sys.exit(main())
