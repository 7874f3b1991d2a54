"""Which data in the source is what tests expect, by the files that name it."""

from __future__ import annotations

import pytest

from loopwright.judging.computed_names import is_of_a_framework
from loopwright.judging.expected_data import expected_data
from loopwright.judging.project_files import TESTS
from loopwright.judging.scope import WorkScope

SCOPE = WorkScope(source=("app/**", "src/**"), tests=TESTS, scripts=frozenset({"check.py"}))
WANTED = {"app/wanted.txt": "hello Ann"}
READS = {"tests/test_a.py": "wanted = Path('app/wanted.txt').read_text()"}


def found(files, *changed):
    def having(words):
        words = tuple(words)
        return {path: text.encode() for path, text in files.items() if any(word in text for word in words)}

    return expected_data(changed, frozenset(files), SCOPE, having)


@pytest.mark.parametrize(
    "files",
    [
        READS,
        {"tests/test_a.py": "wanted = (HERE.parent / 'app' / 'wanted.txt').read_text()"},
        {"tests/test_a.py": "from tests.util import wanted", "tests/util.py": "open(f'{APP}/wanted.txt')"},
        {"util.py": "Path('app/wanted.txt')", "tests/test_a.py": "from util import wanted"},
        {"check.py": "open('app/wanted.txt')"},
        {"app/hello_test.go": 'os.ReadFile("wanted.txt")'},
        READS | {"app/hello.py": "open('unwanted.txt'); open('wanted.txt.bak.d-wanted.txt-old')"},
        READS | {"app/hello.py": "from app import words", "tests/wanted.txt": "other"},
    ],
)
def test_data_of_the_source_that_only_tests_name_is_what_they_expect(files):
    assert found(files | WANTED, "app/wanted.txt", "app/hello.py") == {"app/wanted.txt"}


@pytest.mark.parametrize(
    "files",
    [
        {},
        READS | {"app/hello.py": "open('app/wanted.txt')"},
        READS | {"app/page.html": "<a href='wanted.txt'>"},
        READS | {"pyproject.toml": 'package-data = {app = ["wanted.txt"]}'},
        {"tests/test_a.py": "Path('tests/data/wanted.txt')"},
        {"tests/test_a.py": "Path('other/wanted.txt'), 'unwanted.txt'"},
        {"setup.py": "open('app/wanted.txt')", "scripts/make.py": "open('app/wanted.txt')"},
        {"README.md": "See app/wanted.txt", "noxfile.py": "open('app/wanted.txt')"},
    ],
)
def test_data_that_the_product_names_or_no_test_is_a_part_of_the_product(files):
    assert not found(files | WANTED, "app/wanted.txt")


@pytest.mark.parametrize(
    ("source", "is_expected"),
    [
        ("open(HERE / 'locales' / f'{name}.json')", False),
        ("open(f'locales/{name}.json')", False),
        ("glob('locales/*.json')", False),
        ("os.path.join(HERE, 'locales')", False),
        ("open(HERE / 'locales' / 'de.json')", True),
        ("open('src/locales/de.json')", True),
        ("import locales", True),
    ],
)
def test_the_product_may_compute_names_in_a_folder_of_data(source, is_expected):
    files = {
        "src/hello.py": source,
        "src/locales/en.json": "{}",
        "src/locales/de.json": "{}",
        "tests/test_a.py": "json.load(open('src/locales/en.json'))",
    }
    assert bool(found(files, "src/locales/en.json")) is is_expected


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("app/i18n/de.json", {"app/i18n/__init__.py": "Path(__file__).with_name(f'{lang}.json').read_text()"}),
        ("app/lang_de.json", {"app/a.py": "open(os.path.join(HERE, 'lang_' + lang))"}),
        ("app/de.json", {"app/a.py": "Path(__file__).with_name(name + '.json')"}),
        ("app/de.json", {"app/a.py": "Path(__file__).with_name('%s.json' % lang)"}),
        ("app/de.json", {"app/a.py": "Path(__file__).parent / '{}.json'.format(lang)"}),
        ("app/de.json", {"app/a.py": "[p for p in folder() if p.suffix == '.json']"}),
        ("app/de.json", {"app/a.py": "(Path(__file__).parent / name).read_text()"}),
        ("app/de.json", {"app/a.py": "HERE = dirname(__file__)\nopen(os.path.join(HERE, name))"}),
        (
            "app/de.json",
            {"app/a.py": "from importlib.resources import files\nfor part in files(__package__).iterdir(): f(part)"},
        ),
        ("app/data.bin", {"app/a.py": "pkgutil.get_data(__name__, name)"}),
        ("app/sub/001_init.sql", {"app/db.py": "for f in sorted(Path(__file__).parent.glob('*.sql')): run(f)"}),
        ("app/user.schema.json", {"app/s.py": "SCHEMA = files(__package__) / f'{name}.schema.json'"}),
        ("app/templates/mail.html", {"app/__init__.py": "app = Flask(__name__)"}),
        ("app/locale/de/LC_MESSAGES/app.po", {"app/__init__.py": "gettext.translation('app', LOCALES)"}),
        ("app/de.po", {}),
        ("app/de.json", {"app/a.js": "require(`./${lang}.json`)"}),
        ("app/de.json", {"app/a.js": "fs.readdirSync(__dirname).map(load)"}),
        ("app/de.json", {"app/a.js": "fs.readFileSync(path.join(__dirname, name))"}),
        ("app/a.sql", {"app/a.go": "//go:embed *.sql\nvar all embed.FS"}),
        ("app/de.json", {"pyproject.toml": "package-data = {app = ['*.json']}"}),
    ],
)
def test_the_product_may_compute_names_in_its_folder_and_below(path, source):
    files = {path: "data", "tests/test_a.py": f"open('{path}')"}
    assert not found(files | source, path)
    assert is_of_a_framework(path) or found(files, path), "nothing computes the name"


@pytest.mark.parametrize(
    "source",
    [
        {"app/a.py": "Path(__file__).with_name(f'{lang}.json')"},
        {"app/a.py": "print('*', name + '.json', f'{name}')"},
        {"app/a.py": "(Path(__file__).parent / 'VERSION').read_text(); ', '.join(names)"},
        {"app/a.py": "os.listdir(folder); open(name)"},
        {"app/sub/a.py": "Path(__file__).with_name(f'{lang}.txt')"},
        {"other/a.py": "folder.glob('*.txt')"},
        {"app/a.py": "open('other' + name); half = total / count"},
        {"app/a.go": "//go:embed other.sql"},
    ],
)
def test_data_is_protected_if_no_code_may_compute_its_name(source):
    assert found(source | WANTED | READS, "app/wanted.txt")


@pytest.mark.parametrize(
    ("text", "source", "is_expected"),
    [
        ("require('../src/expected.json')", "", True),
        ("import wanted from '../src/expected'", "", True),
        ("require(`${SRC}/expected`)", "", True),
        ("require('./expected.json')", "", False),
        ("require('../src/expected')", "require('./expected')", False),
    ],
)
def test_json_is_also_named_without_its_ending(text, source, is_expected):
    files = {
        "src/expected.json": "{}",
        "src/hello.js": source,
        "tests/a.test.js": text,
        "tests/expected.json": "{}",
    }
    assert found(files, "src/expected.json") == (frozenset({"src/expected.json"}) if is_expected else frozenset())


def test_documents_are_judged_by_what_the_tests_say_without_them():
    scope = WorkScope(source=("app/**",), tests=TESTS, docs=("**/*.md",))
    files = {"app/wanted.md": "hello", "tests/test_a.py": "open('app/wanted.md')"}
    texts = {path: text.encode() for path, text in files.items()}
    assert not expected_data(["app/wanted.md"], frozenset(files), scope, lambda _words: texts)


def test_a_new_module_does_not_stand_in_for_data_of_tests():
    files = {"src/expected.json": "{}", "tests/a.test.js": "require('../src/expected')"}
    assert found(files, "src/expected.js", "src/other.js") == {"src/expected.js"}
    assert not found(files | {"src/expected.js": ""}, "src/expected.js")
