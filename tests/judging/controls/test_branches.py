"""The lines of a test that right work may leave out. Lines with a comment `out` are such lines, others are not."""

from __future__ import annotations

import ast

import pytest

from loopwright.judging.controls.go_branches import may_be_left_out
from loopwright.judging.controls.go_guards import AssertionForm, GoGuards
from loopwright.judging.controls.javascript_branches import uncertain_lines as uncertain_lines_of_javascript
from loopwright.judging.controls.python_branches import uncertain_lines
from loopwright.judging.syntax.go_source import parse_go
from loopwright.judging.syntax.javascript_source import parse_javascript

PYTHON = """\
def test_paths(self):
    check()
    if wrong():
        self.fail()
    if x:
        check()  # out
    else:
        check()  # out
    for row in rows():
        check()
        if row:
            break  # out
        check()  # out
    else:
        check()  # out
    while waits():
        check()  # out
    try:
        check()  # out, handled
    except ValueError:
        check()  # out
    finally:
        check()
    with session():
        check()
    with pytest.raises(E):
        check()  # out, handled
    match x:
        case 1:
            check()  # out
    def inner():
        if x:
            return  # out
        check()  # out
    check()
    if x:
        return  # out
    check()  # out
"""
JAVASCRIPT = """\
test('paths', () => {
  check()
  if (wrong) throw new Error()
  if (x) {  // out
    check()  // out
  }  // out
  for (const row of rows()) {
    check()
    if (row)
      continue  // out
    check()  // out
  }
  try {  // out
    check()  // out
  } catch {  // out
    check()  // out
  }  // out
  try {
    check()
  } finally {
    check()
  }
  while (waits())
    check()  // out
  switch (x) {
    case 1:  // out
      check()  // out
  }
  rows.forEach(row => {
    if (!row)
      return  // out
    check(row)  // out
  })
  check()
})
"""
GO = """\
package a

func TestPaths(t *testing.T) {
	if got != want { t.Error(got); return }
	if x {
		if got != want { t.Error() } // out
	}
	for _, row := range rows() {
		if got != want { t.Error(row); continue }
		if row.x { continue }
		if got != want { t.Error() } // out
	}
	switch x {
	case 1:
		if got != want { t.Error() } // out
	}
	Each(func() {
		if got != want { t.Error() }
	})
	if got != want { t.Error() }
	if x { return }
	if got != want { t.Error() } // out
}
"""


def marked(source: str, word: str) -> set[int]:
    return {number for number, line in enumerate(source.splitlines(), 1) if word in line.rpartition("  ")[2]}


def test_lines_of_python():
    found = uncertain_lines(ast.parse(PYTHON))
    assert set(found.branches) == marked(PYTHON, "out")
    assert set(found.handled) == marked(PYTHON, "handled")


@pytest.mark.parametrize("path", ["a.test.js", "a.test.ts"])
def test_lines_of_javascript(path):
    source = parse_javascript(path, JAVASCRIPT.encode())
    assert source is not None
    assert set(uncertain_lines_of_javascript(source)) == marked(JAVASCRIPT, "// out")


def test_conditions_of_go():
    source = parse_go(GO.encode())
    assert source is not None
    found = list(GoGuards(source, frozenset()).all())
    guards = {each.node.id for each in found if each.form is AssertionForm.GUARD}
    out = {each.node.start_point[0] + 1 for each in found if may_be_left_out(each.node, guards)}
    assert out == {number for number, line in enumerate(GO.splitlines(), 1) if line.endswith("// out")}
