"""Which lines ran, by the coverage reports that a test command leaves."""

from __future__ import annotations

import pytest

from loopwright.judging.reports.coverage import add_up, read_coverage

JSON = (
    b'{"totals": {"percent_covered": 50, "covered_lines": 1, "num_statements": 2},'
    b' "files": {"src/a.py": {"executed_lines": [2], "missing_lines": [5]}}}'
)
LCOV = b"SF:/somewhere/src/a.py\nDA:2,1\nDA:5,0\nend_of_record\n"
COBERTURA = (
    b'<coverage lines-covered="1" lines-valid="2"><class filename="a.py"><lines><line number="2" hits="1"/>'
    b'<line number="5" hits="0"/></lines></class></coverage>'
)


@pytest.mark.parametrize("report", [JSON, LCOV, COBERTURA], ids=["coverage.py", "lcov", "cobertura"])
def test_a_report_tells_which_lines_ran(report):
    lines = read_coverage([report]).lines
    assert lines.ran_between("src/a.py", 1, 3) is True
    assert lines.ran_between("src/a.py", 4, 9) is False
    assert lines.ran_between("src/a.py", 6, 9) is None
    assert lines.ran_between("src/b.py", 1, 9) is None


def test_the_lines_of_two_reports_add_up():
    both = add_up([read_coverage([LCOV]), read_coverage([LCOV.replace(b"5,0", b"5,1")])])
    assert both.lines.ran_between("src/a.py", 4, 9) is True
