"""The text that go and cargo print. The examples are recorded (go 1.27.3, cargo 1.95.0) and shortened."""

from __future__ import annotations

import pytest

from loopwright.judging.reports.junit import ReportSpace
from loopwright.judging.runners.output import read_output

GO = """\
=== RUN   TestAdd
no newline--- PASS: TestAdd (0.00s)
=== RUN   TestBad
    a_test.go:6: expected 1
--- FAIL: TestBad (0.25s)
=== RUN   TestSkip
    a_test.go:7: later
--- SKIP: TestSkip (0.00s)
=== RUN   TestSub
=== RUN   TestSub/one_two
=== PAUSE TestSub/one_two
=== CONT  TestSub/one_two
--- PASS: TestSub (0.00s)
    --- PASS: TestSub/one_two (0.00s)
=== RUN   ExampleAdd
--- FAIL: ExampleAdd (0.00s)
got:

want:
x
FAIL
FAIL\texample.com/p\t0.003s
?   \texample.com/p/none\t[no test files]
=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
PASS
ok  \texample.com/p/sub\t0.005s
# example.com/p/vetty
vetty/v.go:5:24: fmt.Printf format %d has arg "x" of wrong type string
FAIL\texample.com/p/vetty [build failed]
FAIL
"""
GO_STATUSES = {
    "example.com/p::TestAdd": "passed",
    "example.com/p::TestBad": "failed",
    "example.com/p::TestSkip": "skipped",
    "example.com/p::TestSub": "passed",
    "example.com/p::TestSub/one_two": "passed",
    "example.com/p::ExampleAdd": "failed",
    "example.com/p/sub::TestAdd": "passed",
    "example.com/p/vetty": "failed",
}
CARGO = """\
   Compiling p v0.1.0 (/p)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.50s
     Running unittests src/lib.rs (target/debug/deps/p-5f2)

running 4 tests
test tests::adds ... ok
test tests::later ... ignored, needs a network
test tests::panics - should panic ... ok
test tests::fails ... FAILED

failures:

---- tests::fails stdout ----

thread 'tests::fails' (26014) panicked at src/lib.rs:12:18:
assertion failed: false


failures:
    tests::fails

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.28s

error: test failed, to rerun pass `--lib`
   Doc-tests p

running 1 test
test src/lib.rs - add (line 2) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
"""
CARGO_STATUSES = {
    "tests::adds": "passed",
    "tests::fails": "failed",
    "tests::later": "skipped",
    "tests::panics - should panic": "passed",
    "src/lib.rs - add": "passed",
}


def read(text):
    return read_output(text.splitlines(keepends=True), ReportSpace())


@pytest.mark.parametrize(
    ("text", "statuses", "runners"),
    [
        (GO, GO_STATUSES, ("go",)),
        (CARGO, CARGO_STATUSES, ("cargo",)),
        (CARGO + GO, CARGO_STATUSES | GO_STATUSES, ("go", "cargo")),
        ("test x ... ok\n--- PASS: TestX (0.00s)\nok, fine\n3 passed in 0.1s\n", {}, ()),
    ],
    ids=["go", "cargo", "both", "neither"],
)
def test_the_results_of_a_command_are_read_from_its_output(text, statuses, runners):
    report = read(text)
    assert {result.id: result.status for result in report.results} == statuses
    assert report.runners == runners
    assert report.gaps == ()


def test_go_s_output_belongs_to_its_failed_test():
    failed = next(result for result in read(GO).results if result.test_name == "TestBad")
    assert (failed.duration_ms, "expected 1" in failed.error_message) == (250, True)


@pytest.mark.parametrize(
    ("text", "gaps"),
    [
        (GO[: GO.index("FAIL\texample")], ("go ended before its output was complete",)),
        (GO.replace("--- SKIP: TestSkip (0.00s)\n", ""), ("go: TestSkip started and has no result",)),
        (CARGO[: CARGO.index("test result")], ("cargo ended before its output was complete",)),
        (CARGO.replace("running 1 test", "running 3 tests"), ("cargo: 2 tests have no result",)),
    ],
    ids=["go stopped", "go without a result", "cargo stopped", "cargo without a result"],
)
def test_incomplete_output_is_noticed(text, gaps):
    assert read(text).gaps == gaps
