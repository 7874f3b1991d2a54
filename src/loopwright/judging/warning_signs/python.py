"""Warning signs in Python source."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from loopwright.judging.controls.python_assertions import ends_with_failure
from loopwright.judging.syntax.python_source import MOST_BYTES, Function, dotted_name
from loopwright.judging.warning_signs.model import (
    Sign,
    alters_runtime,
    changes_doctest,
    ends_process,
    framework,
    named_framework,
    not_examined,
    reads_callers,
    reads_program,
    runs_data,
    signs_in_text,
)
from loopwright.judging.warning_signs.python_callers import CallerSigns
from loopwright.judging.warning_signs.python_comparisons import compares_plain_values, equals_everything
from loopwright.judging.warning_signs.python_folders import FolderSigns
from loopwright.judging.warning_signs.python_names import PythonNames, asks_for_names, constant
from loopwright.judging.warning_signs.python_writes import ForeignWrites, stored

_FRAMEWORKS = frozenset({"pytest", "_pytest", "unittest", "nose", "nose2", "doctest", "hypothesis"})
# These skip all clean-up, so that no runner can report: a main function has no reason for them.
_KILLS = re.compile(
    r"(?:os|posix|nt)\.(?:_exit|abort|kill|killpg|exec[lv]\w*|posix_spawn\w*)"
    r"|(?:_?signal)\.(?:raise_signal|pthread_kill|alarm|setitimer|SIGKILL)|faulthandler\._\w+|_testcapi\.\w+"
)
_EXITS = frozenset({"sys.exit", "exit", "quit", "SystemExit"})
_RUNS = re.compile(
    r"exec|eval|compile|runpy\.run_\w+|types\.(?:FunctionType|CodeType)|marshal\.loads?|code\.\w*[Ii]nter\w*"
    r"|importlib\.util\.spec_from_\w+|importlib\.machinery\.Source\w+|imp\.load_\w+|_imp\.\w+"
    # These evaluate annotations that are texts.
    r"|typing\.get_type_hints|typing_extensions\.get_type_hints"
)
_IMPORTS = frozenset({"__import__", "importlib.import_module"})
# Hooks of the interpreter, and ways to find the code that called this code.
_RUNTIME = re.compile(
    r"sys\.(?:(?:unraisable|except)hook|settrace|setprofile|monitoring(?:\..*)?|addaudithook|meta_path|path_hooks"
    r"|call_tracing)|threading\.(?:excepthook|settrace\w*|setprofile\w*)|gc\.callbacks"
    r"|ctypes\.(?:pythonapi|memmove|memset|PyDLL)|__build_class__"
)
_CALLERS = re.compile(
    r"sys\.(?:_getframe\w*|_current_(?:frames|exceptions)|orig_argv)|gc\.get_\w+|ctypes\.string_at"
    r"|inspect\.(?:stack|trace|currentframe|get(?:outer|inner)frames)|faulthandler\.dump_traceback\w*"
    r"|tracemalloc\.(?:take_snapshot|get_object_traceback)"
)
_FRAME_PARTS = frozenset({"f_back", "f_trace", "gi_frame", "cr_frame", "ag_frame"})
_NAMED_FRAMEWORKS = frozenset({"pytest", "_pytest", "unittest"})
_PROGRAM_TEXT = re.compile(
    r"inspect\.getsource\w*|linecache\.\w+|tokenize\.open|__main__|sys\.modules\.__main__(?:\..*)?"
)
# Texts that are names of these functions only.
_NAMED = re.compile(r"settrace|setprofile|addaudithook|excepthook")
_NAMED_CALLERS = re.compile(r"_getframe|_current_frames|f_back")
_NAMED_EXITS = re.compile(r"_exit|raise_signal")
# Attributes by which a product can tell the objects of a test from real ones.
_OF_MOCKS = re.compile(r"mock_calls|call_args_list|assert_(?:not_)?called\w*|assert_(?:any|has)_calls?|_mock_\w+")
_GUARDED = frozenset({"os", "sys", "posix", "builtins", "__builtins__", "signal", "gc", "inspect"})
_COMMANDS = frozenset({"command", "group", "callback"})
# A program may replace these in its own process.
_OWN_PARTS = re.compile(
    r"sys\.(?:std(?:in|out|err)|path|argv|displayhook|ps[12]|dont_write_bytecode)\b.*|os\.environ"
    r"|sys\.last_\w+|ctypes\..*\.(?:argtypes|restype|errcheck)|.*\.__(?:module|(?:qual)?name|doc)__"
)
# What a new test may not change: a test framework, and what assertions use. Settings of messages are free.
_TESTED = re.compile(
    r"(?!.*\.(?:maxDiff|longMessage|_MAX_LENGTH|_diffThreshold)$)"
    r"(?:(?:sys\.modules\.)?(?:_?pytest|unittest|nose2?|doctest|hypothesis|pluggy)\b.*"
    r"|(?:.*\.)?(?:testing|assert\w*|__mro__|__bases?__)\b.*|builtins\.(?!(?:input|print|open|_|__import__)$).*)"
)


def signs_in_python(path: str, source: bytes, *, is_test: bool = False) -> Iterator[Sign]:
    """All signs of a file; of a new test only those that it changes a test framework."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source if len(source) <= MOST_BYTES else b"(")
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        yield not_examined(source)
        return
    finder = _Finder(tree, has_examples=b">>>" in source)
    if is_test:
        yield from (sign for node in ast.walk(tree) for sign in finder.changed_frameworks(node))
    else:
        yield from finder.signs(tree, in_main=path.rpartition("/")[2] == "__main__.py")


class _Finder:
    """Walks a tree; knows under which names the file has imported something."""

    def __init__(self, tree: ast.Module, *, has_examples: bool) -> None:
        self._has_examples = has_examples
        self._names = PythonNames(tree)
        nodes = list(ast.walk(tree))
        self._writes = ForeignWrites(nodes, self._names)
        self._callers = CallerSigns(nodes, self._names)
        self._folders = FolderSigns(nodes, self._names)
        self._asks_for_names = asks_for_names(nodes, self._names)
        self._documentation = {
            id(node.value) for node in nodes if isinstance(node, ast.Expr) and constant(node.value) is not None
        }

    def signs(self, tree: ast.AST, *, in_main: bool) -> Iterator[Sign]:
        """The signs of a node and of all nodes below it."""
        ahead = [(tree, in_main)]
        while ahead:
            node, inside = ahead.pop()
            yield from self._signs_at(node, in_main=inside)
            yield from self._signs_of_writes(node)
            yield from self._callers.at(node, in_main=inside)
            if equals_everything(node):
                yield alters_runtime("__eq__ does not look at the other value", getattr(node, "lineno", 1), "__eq__")
            if plain := compares_plain_values(node, self._names.origin):
                yield alters_runtime(f"{plain} with comparisons of its own", getattr(node, "lineno", 1), plain)
            inside = inside or _is_main(node)
            ahead += [(child, inside) for child in ast.iter_child_nodes(node)]

    def _signs_at(self, node: ast.AST, *, in_main: bool) -> Iterator[Sign]:
        match node:
            case ast.Import(names=names):
                yield from self._modules_at([name.name for name in names], node.lineno)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from self._modules_at([module], node.lineno)
                for name in names:
                    yield from self._signs_of_name(f"{module}.{name.name}", node.lineno)
                if module in {"os", "posix", "signal"} and names[0].name == "*":
                    yield ends_process(f"{module}.*", node.lineno, module)
            case ast.Constant() | ast.BinOp() | ast.JoinedStr() if id(node) not in self._documentation:
                yield from self._signs_in_text(node)
            case ast.Call():
                yield from self._signs_at_call(node, in_main=in_main)
            case ast.Attribute(ctx=ast.Load(), attr=attr) if _NAMED_EXITS.fullmatch(attr):
                # Whatever owns it: a module can be reached in many ways.
                yield ends_process(attr, node.lineno, attr)
            case ast.Attribute(ctx=ast.Load(), attr=attr) if _OF_MOCKS.fullmatch(attr):
                yield reads_program(attr, node.lineno)
            case ast.Attribute(ctx=ast.Load(), attr=attr) if attr in _FRAME_PARTS:
                yield reads_callers(attr, node.lineno)
            case ast.Attribute(ctx=ast.Load()) | ast.Name(ctx=ast.Load()) | ast.Subscript(ctx=ast.Load()):
                yield from self._signs_of_name(self._names.origin(node), node.lineno)
                yield from self._signs_in_text(node)
            case _:
                yield from self._signs_of_control(node, in_main=in_main)

    def _signs_of_control(self, node: ast.AST, *, in_main: bool) -> Iterator[Sign]:
        """The end of the process by an exception, and loops over everything that is loaded."""
        match node:
            case ast.Raise(exc=ast.Name(id="SystemExit")) if not in_main:
                yield ends_process("SystemExit", node.lineno, ast.dump(node))
            case ast.ClassDef(bases=parts) | ast.arguments(defaults=parts):
                if any(self._names.origin(part) == "SystemExit" for part in parts):
                    yield ends_process("SystemExit", parts[0].lineno, type(node).__name__)
            case ast.comprehension(iter=source) | ast.For(iter=source) if self._is_table(source):
                yield reads_program("sys.modules", source.lineno)
            case _:
                pass

    def _signs_in_text(self, node: ast.expr) -> Iterator[Sign]:
        """What a text names, also a text that is put together."""
        text = constant(node)
        if text is None and isinstance(node, ast.JoinedStr):
            # A part that is not known stands for anything.
            text = "".join(constant(value) or "{}" for value in node.values)
        if text is None:
            return
        yield from signs_in_text(text, node.lineno)
        if text in _NAMED_FRAMEWORKS:
            yield named_framework(text, node.lineno)
        elif _NAMED_EXITS.fullmatch(text):
            yield ends_process(text, node.lineno, text)
        elif _OF_MOCKS.fullmatch(text) or (text == "call_count" and self._asks_for_names):
            yield reads_program(text, node.lineno)
        elif _NAMED.fullmatch(text):
            yield alters_runtime(text, node.lineno, text)
        elif _NAMED_CALLERS.fullmatch(text):
            yield reads_callers(text, node.lineno)

    def _modules_at(self, modules: list[str], line: int) -> Iterator[Sign]:
        for module in modules:
            if module.partition(".")[0] in _FRAMEWORKS and module.replace(".", "a").isidentifier():
                yield framework(module, line)
            elif module == "__main__":
                yield reads_program(module, line)

    def _is_table(self, node: ast.expr) -> bool:
        """Whether a loop looks through all loaded modules."""
        names = [self._names.origin(part) for part in ast.walk(node) if isinstance(part, ast.expr)]
        return "sys.modules" in names and not any(isinstance(part, ast.Compare) for part in ast.walk(node))

    def _signs_at_call(self, node: ast.Call, *, in_main: bool) -> Iterator[Sign]:
        name, line, code = self._names.origin(node.func), node.lineno, ast.dump(node)
        # An exit that means failure deceives no judge.
        if name in _EXITS - self._names.defined and not in_main and not ends_with_failure(node):
            yield ends_process(name, line, code)
        if _RUNS.fullmatch(name) and name not in self._names.defined:
            yield runs_data(name, line, code)
        first = node.args[0] if node.args else None
        if name in _IMPORTS and first is not None and constant(first) is None:
            yield runs_data(name, line, code)
        if any(key.arg == "eval_str" and not _is_false(key.value) for key in node.keywords):
            yield runs_data(f"{name}(eval_str)", line, code)
        if name in {"setattr", "delattr"} and len(node.args) > 1:
            yield from self._signs_of_texts(ast.Attribute(node.args[0], constant(node.args[1]) or ""), node)
        owner = self._names.origin(first)
        if len(node.args) > 1 and name == "getattr" and constant(node.args[1]) is None and owner in _GUARDED:
            yield runs_data("getattr", line, code)
        yield from self._signs_of_name(self._names.origin(node), line)
        if not in_main:
            yield from self._folders.at(node, name)
        if name == "ctypes.CDLL" and isinstance(first, ast.Constant) and first.value is None:
            yield alters_runtime("ctypes.CDLL(None)", line, code)

    def _signs_of_name(self, name: str, line: int) -> Iterator[Sign]:
        if _KILLS.fullmatch(name):
            yield ends_process(name, line, name)
        elif _RUNTIME.fullmatch(name):
            yield alters_runtime(name, line, name)
        elif _CALLERS.fullmatch(name):
            yield reads_callers(name, line)
        elif _PROGRAM_TEXT.fullmatch(name):
            yield reads_program(name, line)

    def _signs_of_writes(self, node: ast.AST) -> Iterator[Sign]:
        targets = stored(node)
        line = targets[0].lineno if targets else getattr(node, "lineno", 1)
        changed = [target for target in targets if not isinstance(target, ast.Name)]
        names = [self._names.origin(target) or dotted_name(target) for target in changed]
        if targets and not self._is_plain_text(node):
            for target in targets:
                yield from self._signs_of_texts(target, node)
        written = [name for name in names if _RUNTIME.fullmatch(name) or name.endswith(".__code__")]
        written += [name for name in self._writes.at(node) if name and not _OWN_PARTS.fullmatch(name)]
        yield from (alters_runtime(name, line, ast.dump(node)) for name in dict.fromkeys(written))

    def _is_plain_text(self, node: ast.AST) -> bool:
        """Whether an assignment copies a docstring, or writes a text without examples; `False` hides a class."""
        match node:
            case ast.Assign(value=ast.Constant(value=value)):
                return value is False or ">>>" not in str(value)
            case ast.Assign(value=ast.Attribute(attr="__doc__") | ast.Name(id="__doc__")):
                return not self._has_examples
            case _:
                return False

    def _signs_of_texts(self, target: ast.expr, change: ast.AST) -> Iterator[Sign]:
        """A change of a text in which doctest looks for tests."""
        owner = target.value if isinstance(target, ast.Subscript) else target
        name = dotted_name(owner) or (ast.unparse(owner) if isinstance(owner, ast.Attribute) else "")
        if name.rpartition(".")[2] in {"__doc__", "__test__"}:
            yield changes_doctest(name, getattr(change, "lineno", 1), ast.dump(change))

    def changed_frameworks(self, node: ast.AST) -> Iterator[Sign]:
        """The writes of a new test that reach other tests: they can let these pass."""
        names = [name for name in self._writes.at(node) if _TESTED.fullmatch(name)]
        match node:
            case ast.Assign(targets=[ast.Name(id="pytest_plugins" as name)], value=value):
                names += [name] if _names_plugin(value) else []
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="pluginmanager"), attr="register" as name)):
                names.append(name)
            case _:
                pass
        yield from (alters_runtime(name, getattr(node, "lineno", 1), name) for name in dict.fromkeys(names))


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _names_plugin(node: ast.expr) -> bool:
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return any(text != "pytester" for text in texts)


def _is_main(node: ast.AST) -> bool:
    """A function that a user starts, or the block that runs only in a program."""
    if isinstance(node, ast.If):
        return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test))
    if not isinstance(node, Function):
        return False
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    is_command = any(dotted_name(item).rpartition(".")[2] in _COMMANDS for item in decorators)
    return is_command or node.name.strip("_") == "main" or node.name.endswith("_main")
