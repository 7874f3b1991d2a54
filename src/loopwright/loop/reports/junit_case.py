"""One `<testcase>` of JUnit XML as it is gathered, and the rule that makes a result of it.

A case failed when anything in it says so. `flakyFailure` is a try that failed before another one passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopwright.loop.reports.decimals import parse_decimal
from loopwright.loop.reports.excerpt import Excerpt, cut
from loopwright.loop.reports.model import Status, TestResult

LONGEST_NAME = 1_000
LONGEST_MESSAGE = 10_000
LONGEST_TRACE = 64_000

FAILING = frozenset({"failure", "error", "rerunfailure", "rerunerror"})
FLAKY = frozenset({"flakyfailure", "flakyerror"})
PROBLEMS = FAILING | FLAKY | {"skipped"}
# googletest, ctest and bazel say it in an attribute; of these words only, since others mean what no child means.
_STATUS: dict[str, Status] = dict.fromkeys(("fail", "failed", "failure", "error", "interrupted", "cancelled"), "failed")
_STATUS |= dict.fromkeys(("notrun", "disabled", "skipped", "ignored", "suppressed", "filtered"), "skipped")
# A colour, as `xml_text` leaves it and as pytest escapes it.
_COLOUR = re.compile(r"(?:␛|#x1B)\[[0-?]*[ -/]*[@-~]")


class CaseProblem:
    """One `<failure>` or its like."""

    def __init__(self, kind: str, attributes: dict[str, str]) -> None:
        self.kind = kind
        self.message = cut(attributes.get("message", ""), LONGEST_MESSAGE)
        self.type = cut(attributes.get("type", ""), LONGEST_NAME)
        self.text = Excerpt(LONGEST_TRACE)


class Case:
    """What one `<testcase>` holds so far."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self.name = cut(attributes.get("name", "").strip(), LONGEST_NAME)
        self.class_name = cut((attributes.get("classname") or attributes.get("class", "")).strip(), LONGEST_NAME)
        self.seconds = parse_decimal(attributes.get("time", "")) or 0.0
        self.said = tuple(attributes.get(key, "").lower() for key in ("status", "result"))
        self.problems: list[CaseProblem] = []
        self.output = Excerpt(LONGEST_TRACE)

    @property
    def has_failed(self) -> bool:
        """Whether something in it says so already: that holds even where the file breaks off."""
        return any(problem.kind in FAILING for problem in self.problems)

    def result(self, suite_path: str) -> TestResult:
        """The test that this was."""
        status = self._status()
        told = [problem for problem in self.problems if problem.kind in _TELLING[status]]
        message = _joined((_message(problem, self.name) for problem in told), "\n")
        trace = _joined((problem.text.text().strip() for problem in told), "\n\n")
        if status == "failed" and not trace:
            trace = self.output.text().strip()
        if status == "passed" and told:
            message = f"passed after {len(told)} failed {'try' if len(told) == 1 else 'tries'}: {message}"
        return TestResult(
            test_name=self.name or self.class_name or "(unnamed)",
            suite=self._suite(suite_path),
            status=status,
            duration_ms=round(max(self.seconds, 0.0) * 1000, 3),
            error_message=cut(_COLOUR.sub("", message), LONGEST_MESSAGE),
            stack_trace=cut(_COLOUR.sub("", trace), LONGEST_TRACE),
        )

    def _status(self) -> Status:
        if self.has_failed:
            return "failed"
        if any(problem.kind == "skipped" for problem in self.problems):
            return "skipped"
        said = {_STATUS.get(word) for word in self.said}
        if "failed" in said:
            return "failed"
        return "skipped" if "skipped" in said else "passed"

    def _suite(self, path: str) -> str:
        """The class, unless it only repeats the test's name (jest, ctest, mocha) or is node's constant."""
        if not self.class_name or self.name.endswith(self.class_name) or self.class_name == "test":
            return path or self.class_name
        return self.class_name


_TELLING: dict[Status, frozenset[str]] = {"failed": FAILING, "skipped": frozenset({"skipped"}), "passed": FLAKY}


def _message(problem: CaseProblem, test_name: str) -> str:
    """The written message, else the first line that says more than which test it was (phpunit), else the type."""
    if problem.message.strip():
        return problem.message.strip()
    lines = [line.strip() for line in problem.text.text()[:LONGEST_MESSAGE].splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(f"::{test_name}"):
        lines = lines[1:]
    return lines[0] if lines else problem.type


def _joined(texts: Iterable[str], between: str) -> str:
    """Each text once: tries of one test tend to fail alike."""
    return between.join(dict.fromkeys(text for text in texts if text))
