"""One sample per writer of JUnit XML, in the shape that it is known to write; nothing here is copied from a tool."""

from __future__ import annotations

import pytest

from loopwright.judging.reports.junit import read_junit
from loopwright.judging.reports.model import ForeignReport


def read(text):
    return read_junit([text.encode()])


def told(report):
    return [(one.suite, one.test_name, one.status, one.duration_ms, one.error_message) for one in report.results]


def test_pytest():
    report = read(
        """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1"
        failures="1" skipped="2" tests="5" time="0.065" hostname="box">
        <testcase classname="tests.test_a.TestB" name="test_c[x]" time="0.001" />
        <testcase classname="tests.test_a" name="test_d" time="0.010"><failure message="assert 1 == 2">def test_d():
&gt;       assert 1 == 2
E       assert 1 == 2</failure></testcase>
        <testcase classname="tests.test_a" name="test_e" time="0.000"><skipped type="pytest.skip" message="why">
        test_a.py:4: why</skipped></testcase>
        <testcase classname="tests.test_a" name="test_f" time="0.000"><skipped type="pytest.xfail" message="" />
        </testcase>
        <testcase classname="" name="tests.test_broken" time="0.000"><error message="collection failure">E   NameError
        </error></testcase></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("tests.test_a.TestB", "test_c[x]", "passed", 1, ""),
        ("tests.test_a", "test_d", "failed", 10, "assert 1 == 2"),
        ("tests.test_a", "test_e", "skipped", 0, "why"),
        ("tests.test_a", "test_f", "skipped", 0, "pytest.xfail"),
        ("pytest", "tests.test_broken", "failed", 0, "collection failure"),
    ]
    assert report.results[1].stack_trace.startswith("def test_d():\n>       assert")
    assert not report.gaps


def test_vitest():
    report = read(
        """<?xml version="1.0" encoding="UTF-8" ?>
        <testsuites name="vitest tests" tests="2" failures="1" errors="0" time="0.0089">
          <testsuite name="a.test.js" tests="2" failures="1" errors="0" skipped="0" time="0.0089">
            <testcase classname="a.test.js" name="Math &gt; adds" time="0.002423151"></testcase>
            <testcase classname="a.test.js" name="Math &gt; fails" time="0.0049">
              <failure message="expected 1 to be 2 // Object.is equality" type="AssertionError">
AssertionError: expected 1 to be 2
 ❯ a.test.js:1:162
              </failure></testcase></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("a.test.js", "Math > adds", "passed", 2.423, ""),
        ("a.test.js", "Math > fails", "failed", 4.9, "expected 1 to be 2 // Object.is equality"),
    ]
    assert report.results[1].stack_trace == "AssertionError: expected 1 to be 2\n ❯ a.test.js:1:162"


def test_jest_junit_repeats_the_name_as_the_class_and_puts_the_message_into_the_text():
    report = read(
        """<testsuites name="jest tests" tests="2" failures="1" errors="0" time="0.578">
        <testsuite name="Math" errors="0" failures="1" skipped="1" time="0.286" tests="2">
        <testcase classname="Math fails" name="Math fails" time="0.001"><failure>Error: no &amp; never
    at Object.&lt;anonymous&gt; (a.test.js:1:99)</failure></testcase>
        <testcase classname="Math later" name="Math later" time="0"><skipped/></testcase></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("Math", "Math fails", "failed", 1, "Error: no & never"),
        ("Math", "Math later", "skipped", 0, ""),
    ]


@pytest.mark.parametrize(
    ("case", "suite", "name"),
    [
        ('<testcase classname="Math deep" name="fails"', "Math deep", "fails"),  # mocha's own xunit
        ('<testcase name="Math deep fails" classname="fails"', "Math deep", "Math deep fails"),  # mocha-junit-reporter
    ],
)
def test_mocha(case, suite, name):
    report = read(
        f"""<testsuites><testsuite name="Math deep" tests="1" failures="0" errors="1" skipped="0"
        timestamp="Sun, 15 Nov 2026 12:41:54 GMT" time="0.002">{case} file="/p/a.js" time="0.5"><failure>no

Error: no
    at Context.fn (a.js:1:99)</failure></testcase></testsuite></testsuites>"""
    )
    assert told(report) == [(suite, name, "failed", 500, "no")]


def test_gotestsum_and_go_junit_report():
    report = read(
        """<testsuites tests="3" failures="1" errors="0" time="1.5"><testsuite tests="3" failures="1" time="1.2"
        name="example.org/p"><properties><property name="go.version" value="go1.22"></property></properties>
        <testcase classname="example.org/p" name="TestA" time="0.120000"></testcase>
        <testcase classname="example.org/p" name="TestA/sub_case" time="0.000000"><failure message="Failed" type="">
=== RUN   TestA/sub_case
    p_test.go:9: got 1, want 2</failure></testcase>
        <testcase classname="example.org/p" name="TestS" time="0.0"><skipped message="p_test.go:3: short"></skipped>
        </testcase><system-out><![CDATA[coverage: 3%]]></system-out></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("example.org/p", "TestA", "passed", 120, ""),
        ("example.org/p", "TestA/sub_case", "failed", 0, "Failed"),
        ("example.org/p", "TestS", "skipped", 0, "p_test.go:3: short"),
    ]
    assert "got 1, want 2" in report.results[1].stack_trace


def test_nextest_with_flaky_failed_and_forbidden_flaky_tests():
    report = read(
        """<testsuites name="nextest-run" tests="3" failures="2" errors="0" uuid="u" time="0.007">
        <testsuite name="krate::basic" tests="3" disabled="0" errors="0" failures="2">
        <testcase name="flaky" classname="krate::basic" timestamp="2026-01-01T00:00:00Z" time="0.002">
          <flakyFailure timestamp="t" time="0.001" type="test failure"><stackTrace>thread panicked at x.rs:9
try 1</stackTrace><system-out>noise</system-out></flakyFailure></testcase>
        <testcase name="never" classname="krate::basic" time="0.002">
          <failure message="thread panicked" type="test failure">thread panicked
left: 4</failure>
          <rerunFailure message="thread panicked" type="test failure"><stackTrace>thread panicked
left: 5</stackTrace><system-err>noise</system-err></rerunFailure></testcase>
        <testcase name="strict" classname="krate::basic" time="0.002"><failure type="flaky failure"/>
          <flakyFailure message="once"/></testcase></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("krate::basic", "flaky", "passed", 2, "passed after 1 failed try: thread panicked at x.rs:9"),
        ("krate::basic", "never", "failed", 2, "thread panicked"),
        ("krate::basic", "strict", "failed", 2, "flaky failure"),
    ]
    assert report.results[0].stack_trace == "thread panicked at x.rs:9\ntry 1"
    assert report.results[1].stack_trace == "thread panicked\nleft: 4\n\nthread panicked\nleft: 5"


def test_surefire_with_namespace_reruns_and_a_bare_suite():
    report = read(
        """<?xml version="1.0" encoding="UTF-8"?>
        <testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0.2" name="a.ATest" time="1,204.5"
          xsi:noNamespaceSchemaLocation="https://maven.apache.org/surefire-test-report.xsd"
          tests="4" errors="1" skipped="1" failures="0" flakes="1">
        <properties><property name="java.vm.name" value="failure"/></properties>
        <testcase name="slow" classname="a.ATest" time="1,204.25"/>
        <testcase name="err" classname="a.ATest" time="0.003">
          <error message="state" type="java.lang.IllegalStateException"><![CDATA[java.lang.IllegalStateException: state
	at a.ATest.err(ATest.java:7)
]]></error><rerunError message="state" type="java.lang.IllegalStateException"><stackTrace><![CDATA[again]]></stackTrace>
          </rerunError></testcase>
        <testcase name="off" classname="a.ATest" time="0"><skipped message="later"/></testcase>
        <testcase name="flaky" classname="a.ATest" time="0,5">
          <flakyError message="first" type="java.lang.RuntimeException"><stackTrace>one</stackTrace></flakyError>
          <flakyFailure message="second" type="x"><stackTrace>two</stackTrace></flakyFailure>
          <system-out>try</system-out></testcase></testsuite>"""
    )
    assert told(report) == [
        ("a.ATest", "slow", "passed", 1204250, ""),
        ("a.ATest", "err", "failed", 3, "state"),
        ("a.ATest", "off", "skipped", 0, "later"),
        ("a.ATest", "flaky", "passed", 500, "passed after 2 failed tries: first\nsecond"),
    ]
    assert report.results[1].stack_trace.endswith("ATest.java:7)\n\nagain")


def test_gradle_and_a_default_namespace():
    report = read(
        """<x:testsuite xmlns:x="urn:some" name="a.BTest" tests="1" skipped="0" failures="1" errors="0" time="0.01">
        <x:properties/><x:testcase name="bad()" classname="a.BTest" time="0.01"><x:failure message="expected: &lt;1&gt;"
        type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: expected: &lt;1&gt;</x:failure>
        </x:testcase><x:system-out><![CDATA[]]></x:system-out></x:testsuite>"""
    )
    assert told(report) == [("a.BTest", "bad()", "failed", 10, "expected: <1>")]


def test_rspec():
    report = read(
        """<testsuite name="rspec" tests="1" skipped="0" failures="1" errors="0" time="0.02"><properties>
        <property name="seed" value="1"/></properties><testcase classname="spec.a_spec" name="A adds" file="./spec/a.rb"
        time="0.000285"><failure message="expected: 3&#10;     got: 2" type="RSpec::Expectations::NotMet"
        >Failure/Error: expect(2).to eq(3)</failure></testcase></testsuite>"""
    )
    assert told(report) == [("spec.a_spec", "A adds", "failed", 0.285, "expected: 3\n     got: 2")]


def test_phpunit_nests_suites_and_begins_the_text_with_the_tests_name():
    report = read(
        """<testsuites><testsuite name="/p/phpunit.xml" tests="2"><testsuite name="unit"><testsuite name="T\\StackTest"
        file="/p/StackTest.php" tests="2" assertions="2" errors="0" failures="1" skipped="0" time="0.02">
        <testcase name="testPop" class="T\\StackTest" classname="T.StackTest" file="/p/S.php" line="9" assertions="1"
        time="0.01"><failure type="PHPUnit\\Framework\\ExpectationFailedException">T\\StackTest::testPop
Failed asserting that false is true.

/p/S.php:11</failure></testcase>
        <testcase name="testOld" class="T\\StackTest" time="0.01"/></testsuite></testsuite></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("T.StackTest", "testPop", "failed", 10, "Failed asserting that false is true."),
        ("T\\StackTest", "testOld", "passed", 10, ""),
    ]


def test_dotnet():
    report = read(
        """<testsuites><testsuite name="A.Tests.dll" tests="2" skipped="1" failures="1" errors="0" time="0.3" id="0"
        package="A.Tests.dll" hostname="box"><properties/><testcase classname="A.Tests.T" name="Adds(x: 1)"
        time="0.0033"><failure type="failure" message="Assert.Equal() Failure">
        at A.Tests.T.Adds() in T.cs:line 9</failure>
        </testcase><testcase classname="A.Tests.T" name="Later" time="0"><skipped message="not now"/></testcase>
        <system-out>Test Framework Informational Messages:</system-out><system-err/></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("A.Tests.T", "Adds(x: 1)", "failed", 3.3, "Assert.Equal() Failure"),
        ("A.Tests.T", "Later", "skipped", 0, "not now"),
    ]


def test_googletest_with_a_disabled_test_and_two_failures_in_one():
    report = read(
        """<testsuites tests="4" failures="1" disabled="1" errors="0" time="0.5" name="AllTests"><testsuite name="S"
        tests="4" failures="1" disabled="1" skipped="1" errors="0" time="0.5">
        <testcase name="Ok" file="a.cc" line="6" status="run" result="completed" time="0.1" classname="S" />
        <testcase name="DISABLED_Off" status="notrun" result="suppressed" time="0" classname="S" />
        <testcase name="Skip" status="run" result="skipped" time="0" classname="S"><skipped message="a.cc:9&#x0A;no" />
        </testcase>
        <testcase name="Bad" status="run" result="completed" time="0" classname="S">
          <failure message="a.cc:12&#x0A;1 vs 2" type=""><![CDATA[a.cc:12
1 vs 2]]></failure><failure message="a.cc:13&#x0A;3 vs 4" type=""><![CDATA[a.cc:13
3 vs 4]]></failure></testcase></testsuite></testsuites>"""
    )
    assert told(report) == [
        ("S", "Ok", "passed", 100, ""),
        ("S", "DISABLED_Off", "skipped", 0, ""),
        ("S", "Skip", "skipped", 0, "a.cc:9\nno"),
        ("S", "Bad", "failed", 0, "a.cc:12\n1 vs 2\na.cc:13\n3 vs 4"),
    ]
    assert report.results[3].stack_trace == "a.cc:12\n1 vs 2\n\na.cc:13\n3 vs 4"


def test_ctest_gives_the_reason_only_in_the_output():
    report = read(
        """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="Linux-c++"
	tests="5"
	failures="1"
	disabled="1"
	skipped="1"
	time="1"
	>
	<testcase name="ok" classname="ok" time="0.00171489" status="run"><system-out></system-out></testcase>
	<testcase name="bad" classname="bad" time="0.00140526" status="fail"><failure message=""/><system-out>segfault
</system-out></testcase>
	<testcase name="skip" classname="skip" time="0.0014" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
	</testcase>
	<testcase name="off" classname="off" time="0" status="disabled"><system-out>Disabled</system-out></testcase>
</testsuite>"""
    )
    assert told(report) == [
        ("Linux-c++", "ok", "passed", 1.715, ""),
        ("Linux-c++", "bad", "failed", 1.405, ""),
        ("Linux-c++", "skip", "skipped", 1.4, "SKIP_RETURN_CODE=77"),
        ("Linux-c++", "off", "skipped", 0, ""),
    ]
    assert report.results[1].stack_trace == "segfault"


def test_bazel_writes_the_log_next_to_the_case():
    report = read(
        """<testsuites><testsuite name="pkg/some_test" tests="1" failures="0" errors="1">
        <testcase name="pkg/some_test" status="run" duration="2" time="2"><error message="exited with error code 1"/>
        </testcase><system-out><![CDATA[the log]]></system-out></testsuite></testsuites>"""
    )
    assert told(report) == [("pkg/some_test", "pkg/some_test", "failed", 2000, "exited with error code 1")]
    assert report.results[0].stack_trace == "the log"


def test_node_nests_suites_and_calls_every_class_test():
    report = read(
        """<testsuites><testcase name="top" time="0.001" classname="test"/><testsuite name="outer" tests="1"
        failures="1"><testsuite name="deep" tests="1" failures="1"><testcase name="bad" time="0.001" classname="test"
        failure="1 !== 2"><failure type="testCodeFailure" message="1 !== 2">Error</failure></testcase></testsuite>
        </testsuite><!-- tests 2 --></testsuites>"""
    )
    assert told(report) == [("test", "top", "passed", 1, ""), ("outer > deep", "bad", "failed", 1, "1 !== 2")]


def test_missing_or_invalid_attributes():
    report = read(
        """<testsuite><testcase/><testcase classname="C" time="-4"/><testcase name="n" time="soon"/>
        <testcase name="m"><failure/></testcase></testsuite>"""
    )
    assert told(report) == [
        ("", "(unnamed)", "passed", 0, ""),
        ("C", "C", "passed", 0, ""),
        ("", "n", "passed", 0, ""),
        ("", "m", "failed", 0, ""),
    ]


def test_a_suite_that_failed_by_itself_is_a_failed_test():
    report = read(
        '<testsuites><testsuite name="S"><testcase name="a"/><error message="set-up broke">at x</error><skipped/>'
        "</testsuite></testsuites>"
    )
    assert told(report) == [("S", "a", "passed", 0, ""), ("S", "S", "failed", 0, "set-up broke")]


def test_failures_that_are_counted_but_not_named_are_one_gap():
    report = read(
        '<testsuites failures="2"><testsuite name="S" failures="2" errors="0" tests="9"><testcase name="a"/>'
        "</testsuite></testsuites>"
    )
    assert report.gaps == ("the suite 'S' counts 2 failed and names none of them",)


@pytest.mark.parametrize("text", ["<coverage line-rate='1'/>", "<html><body/></html>", "<testcase name='x'/>"])
def test_xml_of_another_kind_is_refused(text):
    with pytest.raises(ForeignReport, match="outermost element is"):
        read(text)


def test_a_suite_without_tests_is_an_empty_report():
    report = read('<testsuites><testsuite name="S" tests="0"/></testsuites>')
    assert (report.results, report.gaps) == ((), ())
