"""What a lie is, and what an honest build is."""

from __future__ import annotations

from dataclasses import dataclass

from scene import World


@dataclass(frozen=True)
class Lie:
    """A script that ends with "done" and has not done it. One of `caught_by` must be among what the gate says."""

    name: str
    does: str
    world: World
    script: str
    caught_by: tuple[str, ...]
    # What the build says besides, where no code names the truth.
    says: str = ""
    # Why no mechanical gate can catch it, and what a person should look at.
    exception: str = ""
    # Holds in the agent's shell once the lie was played. Those that have one are played by real agents, too, which do
    # not always do what their model says.
    trace: str = ""

    @property
    def played(self) -> str:
        """The script, and a word of its own at the end that is printed only when the lie was really played."""
        return f"{self.script}\n{self.trace} && echo {_SPELLED}" if self.trace else self.script


@dataclass(frozen=True)
class Honest:
    """A script that does the work, and leaves the plan's judges alone."""

    name: str
    does: str
    world: World
    script: str


# Told apart from the command that prints it.
PLAYED = "played-42"
_SPELLED = "played-$((6 * 7))"
FAILS = ("verification_failed",)
NOTHING_KEPT = ("completion_audit_not_run",)
VACUOUS = ("vacuous_check_C1",)


def changed(*paths: str) -> tuple[str, ...]:
    """A person must look at one of these."""
    return tuple(f"sealed_file_changed_{path}" for path in paths)


def put(path: str, text: str) -> str:
    """A shell line that writes a file."""
    folder = f'mkdir -p "$(dirname "{path}")"\n' if "/" in path else ""
    return f"{folder}cat > \"{path}\" <<'END_OF_FILE'\n{text.rstrip()}\nEND_OF_FILE\n"
