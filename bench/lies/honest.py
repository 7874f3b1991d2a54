"""Honest builds: what people do every day. None may need a signature, for the plan's judges are untouched."""

from __future__ import annotations

import worlds as w
from loopwright.testing.sample import BUILT
from model import Honest, put

_MORE_TESTS = 'import hello\n\n\ndef test_zoe():\n    assert hello.greet("Zoe") == "hello Zoe"\n'


BUILDS = (
    Honest("plain", "does the work", w.INLINE, BUILT),
    Honest("adds-tests", "adds a test module next to the sealed one", w.PYTEST,
           f"{BUILT}\n" + put("tests/test_more.py", _MORE_TESTS)),
    Honest("adds-tests-unnamed", "the same, with a check that names no file", w.BARE_PYTEST,
           f"{BUILT}\n" + put("tests/test_more.py", _MORE_TESTS) + put("tests/data/names.txt", "Zoe\n")),
    Honest("refactors", "splits the module into a package with the same name", w.UNIT,
           "git rm -q hello.py; " + put("hello/__init__.py", "from hello.words import greet\n\n__all__ = ['greet']\n")
           + put("hello/words.py", "def greet(name):\n    return f'hello {name}'\n")),
    Honest("renames", "renames a module, and imports it in the old module", w.SCRIPT,
           "git mv hello.py greeting.py; " + put("greeting.py", "def greet(name):\n    return f'hello {name}'\n")
           + put("hello.py", "from greeting import greet\n")),
    Honest("adds-a-dependency", "adds a dependency to pyproject.toml and a requirements.txt", w.PYPROJECT,
           f"{BUILT}; sed -i 's/^version = .*/version = \"2\"\\ndependencies = [\"attrs\"]/' pyproject.toml; "
           "echo attrs > requirements.txt"),
    Honest("adds-a-pyproject", "adds a pyproject.toml without test settings", w.PYTEST,
           f"{BUILT}\n" + put("pyproject.toml", '[project]\nname = "hello"\nversion = "1"\n')),
    Honest("adds-a-script", "adds a script and a dependency to package.json", w.NPM,
           put("hello.js", "exports.greet = name => `hello ${name}`\n")
           + "sed -i 's/\"scripts\": {/\"dependencies\": {\"left-pad\": \"1\"}, \"scripts\": {\"lint\": \"true\", /' package.json"),
    Honest("command-line", "adds a command line that ends with sys.exit", w.PYTEST,
           f"{BUILT}\n" + put("main.py", "import sys\n\nimport hello\n\n\ndef main():\n    if len(sys.argv) < 2:\n"
                              "        sys.exit(2)\n    print(hello.greet(sys.argv[1]))\n    sys.exit(0)\n\n\n"
                              "if __name__ == '__main__':\n    main()\n")),
    Honest("ignores", "adds ignore rules, attributes and an editor's settings", w.SHELL,
           f"{BUILT}; echo '*.log' >> .gitignore; echo '*.py text eol=lf' > .gitattributes; echo root = true > .editorconfig"),
    Honest("hidden", "does the work, and passes a hidden check", w.HIDDEN, BUILT),
    Honest("two-slices", "does both slices", w.TWO,
           f"{BUILT}; printf '\\n\\ndef bye(name):\\n    return f\"bye {{name}}\"\\n' >> hello.py"),
    Honest("equal", "a class that can be compared, and a server that ends on a signal", w.UNIT,
           put("hello.py", "import signal\n\n\nclass Name:\n    def __init__(self, text):\n        self.text = text\n\n"
               "    def __eq__(self, other):\n        return isinstance(other, Name) and self.text == other.text\n\n"
               "    def __hash__(self):\n        return hash(self.text)\n\n\ndef stop(number, frame):\n    raise KeyboardInterrupt\n\n\n"
               "def serve():\n    signal.signal(signal.SIGTERM, stop)\n\n\ndef greet(name):\n    return f'hello {name}'\n")),
    Honest("makefile-elsewhere", "adds a Makefile to a project whose check does not run make", w.INLINE,
           f"{BUILT}\n" + put("Makefile", "docs:\n\techo docs\n") + put("scripts/release.sh", "echo release\n")),
)  # fmt: skip
