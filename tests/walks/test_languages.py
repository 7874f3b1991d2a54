"""The same work in Chinese: by locale and by setting, on the screen and in documents; and the same JSON as in English."""

from __future__ import annotations

import json
import re

import pytest
from tests.walks.workflow_kit import BUILT, CHECK, planner, prepare, state

CHINESE = {"LANG": "zh_CN.UTF-8"}
IN_CHINESE = {
    "Desired Outcome": "人们感到被称呼。",
    "In Scope": "- 问候",
    "Non-Goals": "- 不做翻译",
    "Decision Boundaries": "- 措辞由构建者决定",
    "Constraints": "- 没有新的依赖",
    "Success Criteria": "- 说出名字",
    "Assumptions Exposed": "- 名字是文本",
    "Brownfield Evidence vs Inference": "- 问候函数在 hello.py 中",
    "Target Spec Domains": "- greeting",
    "Execution Inputs": "- 无",
    "Testable Acceptance Criteria": "- 对 Ann 的问候是 hello Ann",
}
DELTA = """## ADDED Requirements

### Requirement: 按名字问候
系统 SHALL 按名字问候一个人。

#### Scenario: 给出名字
- **WHEN** 用 Ann 调用问候函数
- **THEN** 返回 hello Ann
"""
SLICE = {
    "id": "VS-1",
    "title": "按名字问候",
    "type": "AFK",
    "blocked_by": [],
    "behavior": "问候时说出名字",
    "acceptance_criteria": ["对 Ann 的问候是 hello Ann"],
    "verification_signal": "检查通过",
    "requirements": ["greeting: 按名字问候"],
    "checks": [{"id": "VS-1-C1", "command": CHECK}],
}
PLAN = {
    "plan": "修改问候函数，使它按照给出的名字来问候，而不是对每个人都说同样的话；其余部分保持不变，也不增加任何依赖。",
    "architecture": "只有一个函数，没有别的部分。函数接收一个名字，返回一句问候；调用它的人决定怎样显示，这里不做任何输出。",
    "design": "尽可能简单：把名字放进一句固定的问候之中。不读取配置，不访问网络，不保存任何状态，因此也没有需要清理的东西。",
    "why": "人人都有名字，被叫到名字的人会觉得自己受到了重视，而现在的问候对谁都一样，听起来像是机器在说话。",
    "what_changes": "- 问候函数接收名字，并且在问候中说出这个名字；原来没有名字的调用方式不再存在，所有调用之处一并修改。",
    "deltas": {"greeting": DELTA},
    "slices": [SLICE],
}
TURNS = [
    {"role": "clarifier", "answer": json.dumps({"sections": IN_CHINESE, "question": "名字可以为空吗？"})},
    {"role": "clarifier", "answer": json.dumps({"question": "全是空格的名字呢？", "presses_on": "A-1"})},
    {"role": "clarifier", "answer": json.dumps({"question": None})},
    {**planner(**PLAN), "expect": "所有文字都用简体中文书写"},
    {"role": "builder", "run": "true", "answer": "done"},
    {"role": "builder", "run": BUILT},
]
ANSWERED = ("不可以，那是错误", "那也一样")
# The path of a change, as a person types it; each step's own refusals first.
PATH = [
    ["plan", "greet"],
    ["clarify", "greet", "--idea", "按名字问候", "--agent", "scripted"],
    ["status", "greet"],
    ["answer", "greet", "A-1", ANSWERED[0]],
    ["clarify", "greet", "--agent", "scripted"],
    ["answer", "greet", "A-2", ANSWERED[1]],
    ["approve", "greet", "--from", "plan", "--to", "build"],
    ["approve", "greet", "--from", "clarify", "--to", "plan"],
    ["plan", "greet", "--agent", "scripted"],
    ["build", "greet", "--agent", "scripted"],
    ["approve", "greet", "--from", "plan", "--to", "build"],
    ["build", "greet", "--agent", "scripted"],
    ["status"],
    ["next"],
    ["approve", "greet", "--from", "build", "--to", "review"],
    ["archive", "greet"],
    ["review", "greet"],
    ["approve", "greet", "--from", "review", "--to", "done"],
    ["status", "greet"],
    ["archive", "greet"],
    ["archive", "greet"],
    ["specs", "list"],
    ["specs", "show", "greeting"],
    ["specs", "verify"],
    ["verify"],
    ["doctor"],
    ["risk"],
    ["status", "no-such"],
    ["loop", "show", "no-such"],
    ["build"],
    ["clarify"],
    ["clarify", "greet", "--wrong"],
    ["nonsense"],
]
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORDS = re.compile(r"(?<![\w./`'\"=-])[a-z]{2,} [a-z]{2,} [a-z]{2,}")
# Texts that are equal in every language: commands, codes, paths, our names, the agent's answers.
_AS_IT_IS = re.compile(
    r"`[^`]*`|'[^']*'|\"[^\"]*\"|loopwright .*|git .*|/\S+|\S+/\S+|--[\w-]+|Make these checks pass.*|Traceback .*|python3 .*"
)


def left_in_english(text):
    """Lines with a sentence in English: three words in a row that are no command, code or path."""
    return [line for line in text.splitlines() if _WORDS.search(_AS_IT_IS.sub("", line))]


def walk(project, environment, *more):
    return [project.run(*step, *more, env=environment) for step in PATH]


@pytest.mark.parametrize(
    ("environment", "settings"),
    [
        (CHINESE, '[workspace]\ndocument_language = "zh"\n'),
        ({}, '[workspace]\nlanguage = "zh"\ndocument_language = "zh"\n'),
    ],
    ids=["by locale", "by setting"],
)
def test_a_change_passes_all_stages_in_chinese(project, environment, settings):
    prepare(project, TURNS, settings=settings)
    seen = walk(project, environment)
    said = "\n".join(done.stdout + done.stderr for done in seen)
    assert left_in_english(said) == []
    assert state(project)["archive_status"] == "archived", said
    for words in (
        "未决的问题：1 个（A-1",
        "plan->build 还没有批准",
        "第 1 轮：计划者在工作",
        "通过的检查：0/1",
        "已完成",
    ):
        assert words in said
    assert "你的工作目录中被改动的文件：1 个；没有提交任何东西" in said
    assert "没有 'nonsense' 这个命令" in said
    documents_are_chinese(project)


def documents_are_chinese(project):
    own = project.own
    change = next((own / "changes" / "archive").iterdir())
    pages = [*(own / "workflows" / "greet").glob("*.md"), *(own / "plans").glob("*.md"), *change.glob("*.md")]
    pages += [*(own / "decisions").rglob("*.md"), *(own / "journal").rglob("*.md")]
    assert len(pages) > 10
    for page in pages:
        text = page.read_text(encoding="utf-8")
        # Names of sections and keys are the contract's; tables of the frontmatter hold names.
        body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
        assert left_in_english(re.sub(r"(?m)^#+ .*$", "", body)) == [], page
        assert _CJK.search(text), page
    spec = (own / "workflows" / "greet" / "spec.md").read_text(encoding="utf-8")
    assert "## Non-Goals" in spec
    report = (own / "workflows" / "greet" / "review-report.md").read_text(encoding="utf-8")
    assert "跳过了代码评审：风险下限" in report


def test_a_program_reads_the_same_in_every_language(make_project):
    """--json says byte for byte what it says in English, also where it refuses."""
    settings = '[workspace]\ndocument_language = "en"\n'
    said = []
    for environment in ({}, CHINESE):
        one = make_project()
        turns = [dict(turn) for turn in TURNS]
        del turns[3]["expect"]
        prepare(one, turns, settings=settings)
        said.append([told(done) for done in walk(one, environment, "--json")])
    for step, english, chinese in zip(PATH, *said, strict=True):
        assert english == chinese, step


def told(done):
    """The output without parts that differ between two runs: times, ids, digests, folders, order."""
    text = done.stdout + done.stderr
    lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"type": "events"')]
    if lines:
        said = [sentence for line in lines for sentence in line["text"]]
        # The reason of a worker's end depends on timing: the worker or the build may notice the end first.
        text = "\n".join(sentence for sentence in said if not sentence.startswith("its worker left: "))
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d{8}T\d{6}Z-\w+|loop-v2-\d{8}-\w+|\b[0-9a-f]{8,64}\b", "X", text)
    text = re.sub(r"/[\w./-]*/(?=\.loopwright|project|SPEC)", "X", text)
    return done.exit_code, re.sub(r"\d+(\.\d+)?", "N", text)


def test_without_a_setting_documents_are_in_the_readers_language(project):
    prepare(project)
    done = project.run("clarify", "greet", "--idea", "hello", env=CHINESE)
    assert "[Desired Outcome] 完成之后有什么变化，对谁有变化？" in done.stdout
    assert "不在范围之内、虽然读者可能以为在的内容" in (project.own / "workflows" / "greet" / "spec.md").read_text(
        encoding="utf-8"
    )


def test_help_is_in_chinese_and_keeps_commands(project):
    pages = (
        [], ["build"], ["loop"], ["loop", "start"], ["loop", "task"], ["specs", "verify"], ["analyze", "gate"],
        ["prompts"], ["prompts", "copy"], ["reflect"], ["reflect", "export"], ["context"],
    )  # fmt: skip
    for arguments in pages:
        page = project.run(*arguments, "--help", env=CHINESE).stdout
        assert left_in_english(page) == [], arguments
        assert page.startswith(f"用法： loopwright {' '.join(arguments)}".rstrip())
    assert "--max-iterations" in project.run("build", "--help", env=CHINESE).stdout
    by_setting = project.run("build", "--help", env={"LOOPWRIGHT_WORKSPACE_LANGUAGE": "zh"})
    assert "负责构建的智能体" in by_setting.stdout
    project.write(".loopwright/config.toml", '[workspace]\nlanguage = "zh"\n')
    assert "负责构建的智能体" in project.run("build", "--help").stdout
    assert "Agent that builds" in project.run("build", "--help", env={"LOOPWRIGHT_WORKSPACE_LANGUAGE": "en"}).stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gb18030", "nonsense-8"])
def test_a_terminal_that_can_t_show_chinese_gets_english(project, encoding):
    done = project.run("next", env={**CHINESE, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    if encoding != "nonsense-8":  # which Python itself refuses
        assert done.exit_code == 0, done.stderr
    if encoding in ("ascii", "latin-1"):
        assert "nothing waits" in done.stdout


def test_an_unknown_language_in_the_settings_is_named(project):
    project.write(".loopwright/config.toml", '[workspace]\nlanguage = "fr"\n')
    done = project.run("status", env=CHINESE)
    assert done.exit_code == 1
    assert "SETTINGS_INVALID" in done.stderr
    assert "设置无法使用" in done.stderr
