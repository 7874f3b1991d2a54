"""Strings with words that are not translated, because people do not read them as messages; each group has a reason."""

from __future__ import annotations

# Text for agents, which a loop stores: stored text is English.
PROMPTS = frozenset(
    {
        "The review says: {rationale}",
        "What the plan asks for now",
        "Make these checks pass:\n{said}",
        "a check that you are not shown fails: {behavior}",
        "The architect asks: {notes}",
    }
)
# Pages that a loop keeps for its agents, below its progress folder.
PAGES = frozenset(
    {
        "{pass_rate} % of {results_count} passed in run {run_id}:",
        "`loopwright verify {run_id}` checks that; `loopwright rerun {run_id_2}` repeats it.",
        "## The work",
        "## {id} {status} at {now}\n\n{description}\n\n{reason}",
        "## {id} at {now}\n\n{description}\n\n{error}\n\n{listed}",
        "(no file changed)",
        "## {outcome} at {last_run_at}",
        "run {run_id}, {pass_rate} % passed",
        "- failed: {name}",
        "- missing from the report: {gap}",
        "\n[… 1,000,000,000 characters left out …]\n",
        "{kept}\n[… {seen} characters left out …]\n{kept_2}",
    }
)
# Formats that programs parse, and commands.
FORMATS = frozenset(
    {
        "{kind} {name} sha256 {sha256}",
        "{indent}def {name}{idle}",
        "{indent}class {name}:\n",
        "args = [{map}]",
        "exec({limit_tests}, _limits := dict(__name__='limits'))",
        "_limits.pop('limit_tests')(globals(), {names}, {seconds})",
        "not {before} != {after}",
        "command = {argv}",
        "env_vars = [{map}]",
        "{before}loopwright:begin {agents} sha256:{digest}{after}",
        "{body}\n<!-- loopwright sha256:{body_2} -->\n",
        "--test-reporter={support}/loopwright_node.mjs --test-reporter-destination=stdout",
        "new file mode",
        "deleted file mode",
        "→ loopwright loop resume {loop_id}",
        "→ git apply {patch}",
        "turn    loopwright loop turn {loop_id} --wait",
        "→ loopwright specs verify",
        "git diff {against}",
        "git status",
        "git branch -D {short}",
        "diff {name} {kept}",
        "git diff",
        "* -filter !diff",
        "tuple[Words, Words]",
        "pragma: allowlist-secret",
        "not found",
        "no module",
        "import error",
        "test failed",
        "loop answer",
        "loop choose",
        "loop mode",
        "loop resume",
        "loop complete",
        "loop retry --max-iterations",
        "loop task add",
        "loop task edit",
        "TBD - created by archiving change ",
        ". Update Purpose after archive.",
        "Brownfield Evidence vs Inference",
        "to be defined",
        "to be determined",
        "to be written",
        "to be clarified",
        "nothing yet",
        "spec.md: {name}",
        "{origin}: [agents.{key}]",
        "{name} takes {fields}",
        "{origin} {name} sha256 {sha256}",
        "prompts copy",
    }
)
# Names of roles, keys and colours; parts of a message that is translated as a whole; messages for developers only.
PARTS = frozenset(
    {
        "smell reviewer",
        "bold {colors}",
        "bold red",
        "bold cyan",
        "page up",
        "page down",
        "go on",
        "be answered",
        "no sentence for {name}",
        "watcher of {loop_id}",
        "only the redaction package makes Redacted values",
    }
)
# Lines of an agent's log, made readable; and shell code that starts the agent's program.
LOGS = frozenset(
    {
        "claude {event}, model {event_2}",
        "denied: {event}",
        "rate limit: {event}",
        "ended: {event}, {event_2} turns",
        "failed: {block}",
        "failed: {done}",
        "{text}\n  failed: {done}",
        "gemini, model {event}",
        '[[rule]]\nmcpName = "loopwright"\ntoolName = "*"\ndecision = "allow"\npriority = 100\n',
        "ended: {event}",
        "ended: {part}",
        "model error: {event}",
        "given up",
        'exec 3<> "$1" || exit 1; while [ ! -e "$0" ]; do read -r _ <&3 || exit 1; done',
        "handed in",
        # Texts of these programs about a denial or a withheld answer: Loopwright searches for them.
        "The model response was blocked due to ",
        "The user has specified a rule which prevents you",
        "The user rejected permission",
        "failed: {event}",
        "→ {item} (exit {item_2})",
        "→ changed {paths}",
        "note: {item}",
        "(a line that was too long to be read)\\n",
        '{set_them}exec "$@" < "$0"',
        ': "${{{name}={value}}}"; export {name_2}; ',
        (
            'mkdir -p "${{TMPDIR:-/tmp}}/codex" && export TMPDIR="${{TMPDIR:-/tmp}}/codex"; '
            'if [ ! -e "$CODEX_HOME/{auth}" ] && [ -z "$CODEX_API_KEY" ] && [ -n "$OPENAI_API_KEY" ]; '
            'then export CODEX_API_KEY="$OPENAI_API_KEY"; fi; exec "$@"'
        ),
        "loopwright: can't listen in the sandbox: {problem}\n",
        "an object of any keys has no strict form",
        "only {listed}",
        "loopwright: {line}\n",
        "the network proxy refused: {named}; to allow an address, add it to agents.{agent}.hosts",
        "the user's proxy refused with status {status}",
        "the user's proxy did not answer as a proxy",
        "the user's proxy closed the connection",
        "npm install -g @anthropic-ai/claude-code@latest",
        "npm install -g @openai/codex",
        "npm install -g @google/gemini-cli",
        "npm install -g opencode-ai@latest",
    }
)
NOT_MESSAGES = PROMPTS | PAGES | FORMATS | PARTS | LOGS
