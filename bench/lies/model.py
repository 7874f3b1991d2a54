"""The types of a lie with a scene of its own, and of honest work."""

from __future__ import annotations

from dataclasses import dataclass

from scene import World


@dataclass(frozen=True)
class Lie:
    """A script that claims to be done and is not. The gate must name one of the codes in `caught_by`."""

    name: str
    does: str
    world: World
    script: str
    caught_by: tuple[str, ...]
    # A text in the build's output, if no code names the problem.
    says: str = ""
    # Why no mechanical gate can catch it, and what a person should look at.
    exception: str = ""
    # A command that succeeds in the agent's shell after the lie. Lies with a trace also run through real agents, which
    # do not always follow their model.
    trace: str = ""
    # The path to "done" on which the lie is told.
    way: str = "build"

    @property
    def played(self) -> str:
        """The script, with a marker at its end that is printed only if the lie really happened."""
        return f"{self.script}\n{self.trace} && echo {_SPELLED}" if self.trace else self.script


@dataclass(frozen=True)
class Honest:
    """A script that does the work."""

    name: str
    does: str
    world: World
    script: str
    # How many commands it may need beyond the plain path.
    allowed: int = 1


# Differs from the text of the command that prints it.
PLAYED = "played-42"
_SPELLED = "played-$((6 * 7))"
FAILS = ("verification_failed",)
NOTHING_KEPT = ("completion_audit_not_run",)
VACUOUS = ("vacuous_check_C1",)


def changed(*paths: str) -> tuple[str, ...]:
    """The codes for protected files: a person must look at one of them."""
    return tuple(f"{code}_{path}" for path in paths for code in ("sealed_file_changed", "changed_test"))


def put(path: str, text: str) -> str:
    """A shell line that writes a file."""
    folder = f'mkdir -p "$(dirname "{path}")"\n' if "/" in path else ""
    return f"{folder}cat > \"{path}\" <<'END_OF_FILE'\n{text.rstrip()}\nEND_OF_FILE\n"
