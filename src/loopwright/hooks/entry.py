"""The entry of `loopwright-hook`: decides from the environment alone whether there is anything to do."""

import os
import sys

_ON = ("solo", "orchestrated")


def main() -> int:
    """Always exit 0: a hook never fails and never holds up a session."""
    if os.environ.get("REFLECTION_MODE", "") not in _ON:
        return 0
    sys.stderr.write("loopwright-hook: this version captures nothing yet\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
