"""Reads JUnit XML: collects its test cases, and turns each into a result."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from loopwright.judging.reports.model import ForeignReport, Status, TestReport, TestResult
from loopwright.judging.reports.numbers import parse_count, parse_decimal
from loopwright.judging.reports.safe_xml import MOST_BYTES, Damage, Excerpt, cut, parse_xml

LONGEST_NAME = 1_000
LONGEST_MESSAGE = 10_000
LONGEST_TRACE = 64_000

FAILING = frozenset({"failure", "error", "rerunfailure", "rerunerror"})
FLAKY = frozenset({"flakyfailure", "flakyerror"})
PROBLEMS = FAILING | FLAKY | {"skipped"}
# googletest, ctest and bazel use an attribute. Only these values count.
_STATUS: dict[str, Status] = dict.fromkeys(("fail", "failed", "failure", "error", "interrupted", "cancelled"), "failed")
_STATUS |= dict.fromkeys(("notrun", "disabled", "skipped", "ignored", "suppressed", "filtered"), "skipped")
# A colour, as `xml_text` leaves it and as pytest escapes it.
_COLOUR = re.compile(r"(?:␛|#x1B)\[[0-?]*[ -/]*[@-~]")


class CaseProblem:
    """A `<failure>` or a similar element."""

    def __init__(self, kind: str, attributes: dict[str, str]) -> None:
        self.kind = kind
        self.message = cut(attributes.get("message", ""), LONGEST_MESSAGE)
        self.type = cut(attributes.get("type", ""), LONGEST_NAME)
        self.text = Excerpt(LONGEST_TRACE)


class Case:
    """The content of a `<testcase>` so far."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self.name = cut(attributes.get("name", "").strip(), LONGEST_NAME)
        self.class_name = cut((attributes.get("classname") or attributes.get("class", "")).strip(), LONGEST_NAME)
        self.seconds = parse_decimal(attributes.get("time", "")) or 0.0
        self.said = tuple(attributes.get(key, "").lower() for key in ("status", "result"))
        self.problems: list[CaseProblem] = []
        self.output = Excerpt(LONGEST_TRACE)

    @property
    def has_failed(self) -> bool:
        """Whether the result is known already, even if the file is incomplete."""
        return any(problem.kind in FAILING for problem in self.problems)

    def result(self, suite_path: str) -> TestResult:
        """The result of the test."""
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


# JUnit knows neither expected failures nor their opposite.
_TELLING: dict[Status, frozenset[str]] = {"failed": FAILING, "skipped": frozenset({"skipped"}), "passed": FLAKY}


def _message(problem: CaseProblem, test_name: str) -> str:
    """The message, else the first line that does not only name the test (phpunit), else the type."""
    if problem.message.strip():
        return problem.message.strip()
    lines = [line.strip() for line in problem.text.text()[:LONGEST_MESSAGE].splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(f"::{test_name}"):
        lines = lines[1:]
    return lines[0] if lines else problem.type


def _joined(texts: Iterable[str], between: str) -> str:
    """Each text once: repeated tries often fail in the same way."""
    return between.join(dict.fromkeys(text for text in texts if text))


MOST_RESULTS = 200_000
MOST_TEXT = 64_000_000
_SHORT_MESSAGE = 200
_MOST_GAPS = 20
_SUITES = ("testsuites", "testsuite")
_OUTPUTS = ("system-out", "system-err")
# A skipped suite has skipped cases. A suite that failed in its set-up may have no cases.
_OF_SUITES = PROBLEMS - {"skipped"}


class ReportSpace:
    """The remaining space for results, shared by all files of a run."""

    def __init__(self, results: int = MOST_RESULTS, text: int = MOST_TEXT, size: int = MOST_BYTES) -> None:
        self.results = results
        self.text = text
        self.bytes = size

    def fit(self, result: TestResult) -> TestResult | None:
        """The result with as much text as fits; None if there is no space for another result."""
        self.results -= 1
        if self.results < 0:
            return None
        self.text -= len(result.error_message) + len(result.stack_trace)
        if self.text >= 0:
            return result
        message = cut(result.error_message, _SHORT_MESSAGE)
        trace = "[left out: the report holds too much text]" if result.stack_trace else ""
        return msgspec.structs.replace(result, error_message=message, stack_trace=trace)


def read_junit(chunks: Iterable[bytes], room: ReportSpace | None = None) -> TestReport:
    """The tests of a JUnit XML file; `UnreadableReport` if it can't be read."""
    gatherer = _Gatherer(room or ReportSpace())
    damage = parse_xml(chunks, gatherer)
    if damage is not None:
        gatherer.break_off(damage)
    return gatherer.report()


class _Suite:
    """An open suite."""

    def __init__(self, name: str, attributes: dict[str, str], path: str) -> None:
        own = cut(attributes.get("name", "").strip(), LONGEST_NAME)
        self.name = own
        # The outermost name is the runner's ("pytest tests"), not a suite's.
        self.path = cut(" > ".join(filter(None, (path, own))), LONGEST_NAME) if name == "testsuite" else path
        counts = (parse_count(attributes.get(key, "0")) or 0 for key in ("failures", "errors"))
        self.declared = sum(counts)
        self.failed = 0
        self.first_result = 0
        self.output = Excerpt(LONGEST_TRACE)


class _Gatherer:
    """Receives the events of a document. `_sinks` holds the target of the text for each open element."""

    def __init__(self, room: ReportSpace) -> None:
        self._room = room
        self._results: list[TestResult] = []
        self._left_out = 0
        self._gaps: list[str] = []
        self._names: list[str] = []
        self._sinks: list[Excerpt | None] = []
        self._suites: list[_Suite] = []
        self._cases: list[Case] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._names[-1] if self._names else ""
        if not parent and name not in _SUITES:
            raise ForeignReport(f"the outermost element is <{cut(name, 60)}>, not <testsuites> or <testsuite>")
        self._names.append(name)
        self._sinks.append(self._opened(name, parent, attributes))

    def _opened(self, name: str, parent: str, attributes: dict[str, str]) -> Excerpt | None:
        """Record an element; return the target of its text."""
        if name in _SUITES:
            self._open_suite(name, attributes)
        elif name == "testcase":
            self._cases.append(Case(attributes))
        elif parent == "testcase" and name in PROBLEMS:
            return self._open_problem(self._cases[-1], name, attributes)
        elif parent in _SUITES and name in _OF_SUITES:
            self._cases.append(Case({"name": self._suites[-1].name or "(suite)"}))
            return self._open_problem(self._cases[-1], name, attributes)
        elif name in _OUTPUTS and parent == "testcase":
            return self._cases[-1].output
        elif name in _OUTPUTS and parent in _SUITES:
            return self._suites[-1].output
        elif parent in PROBLEMS and name not in _OUTPUTS:
            return self._sinks[-1]  # surefire writes the trace of a flaky try into a separate element
        return None

    def _open_suite(self, name: str, attributes: dict[str, str]) -> None:
        suite = _Suite(name, attributes, self._suites[-1].path if self._suites else "")
        suite.first_result = len(self._results)
        self._suites.append(suite)

    @staticmethod
    def _open_problem(case: Case, kind: str, attributes: dict[str, str]) -> Excerpt:
        case.problems.append(CaseProblem(kind, attributes))
        return case.problems[-1].text

    def text(self, text: str) -> None:
        sink = self._sinks[-1] if self._sinks else None
        if sink is not None:
            sink.add(text)

    def end(self, name: str) -> None:
        self._names.pop()
        self._sinks.pop()
        if name == "testcase" or (name in _OF_SUITES and self._names[-1] in _SUITES):
            self._close_case()
        elif name in _SUITES:
            self._close_suite()

    def _close_case(self) -> None:
        result = self._cases.pop().result(self._suites[-1].path)
        if result.status == "failed":
            self._suites[-1].failed += 1
        kept = self._room.fit(result)
        if kept is None:
            self._left_out += 1
        else:
            self._results.append(kept)

    def _close_suite(self) -> None:
        suite = self._suites.pop()
        if suite.declared and not suite.failed:
            self._gap(f"the suite '{suite.name}' counts {suite.declared:,} failed and names none of them")
            suite.failed = suite.declared
        if self._suites:
            self._suites[-1].failed += suite.failed
        # Bazel writes a test's log next to the single case of the suite.
        own = self._results[suite.first_result :]
        if len(own) == 1 and own[0].status == "failed" and not own[0].stack_trace and suite.output:
            self._results[-1] = msgspec.structs.replace(own[0], stack_trace=suite.output.text().strip())

    def break_off(self, damage: Damage) -> None:
        """Keep the open cases as they are, and note that the file is incomplete."""
        while self._cases:
            if self._cases[-1].has_failed:
                self._close_case()
            else:
                self._cases.pop()
        if damage.broke_off:
            self._gap(f"the report breaks off in line {damage.line}: its writer was stopped, or had no space left")
        else:
            self._gap(f"line {damage.line} is not XML ({damage.message}): what follows was not read")

    def _gap(self, text: str) -> None:
        if len(self._gaps) < _MOST_GAPS:
            self._gaps.append(text)

    def report(self) -> TestReport:
        gaps = list(self._gaps)
        if self._left_out:
            gaps.append(f"tests left out: {self._left_out:,}; there are too many to keep")
        return TestReport(tuple(self._results), tuple(gaps))
