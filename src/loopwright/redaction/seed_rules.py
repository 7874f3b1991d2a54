"""The rules that the specification names, as linear patterns with word borders."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule

_IN_KEY = "[A-Za-z0-9_-]"
# Matches a key, but not a name of several words, even with a number: `sk-label-container`, `sk-estimator-id-12`.
_UNLIKE_A_NAME = r"(?:[A-Z]|[a-z][0-9]{1,9}[a-z]|[0-9][a-z]{1,9}[0-9]|[0-9]{5}|[a-z]{15})"
_KEY_TAIL = (
    "[A-Za-z0-9]{10,}"
    f"|{_IN_KEY}{{0,100}}{_UNLIKE_A_NAME}{_IN_KEY}{{8,}}"
    f"|{_IN_KEY}{{4,100}}{_UNLIKE_A_NAME}{_IN_KEY}{{4,}}"
    f"|{_IN_KEY}{{8,100}}{_UNLIKE_A_NAME}{_IN_KEY}*"
)

SEED_RULES: tuple[SecretRule, ...] = (
    SecretRule(
        id="search-service-assignment",
        provider="Tavily, Brave, DashScope",
        keywords=("tavily", "brave", "dashscope"),
        pattern=(
            r"(?i)\b(?:TAVILY|BRAVE|DASHSCOPE)[^\r\n:=]{0,80}(?:API[_-]?KEY|MCP[_-]?URL)[\"']?"
            r"[ \t]{0,16}(?:=>|[:=>|])[ \t]{0,16}[\"']?([^\s\"'<>${}][^\s\"'<>{}]{7,400})"
        ),
        hits=(
            "TAVILY_API_KEY=<alnum:24>",
            'export BRAVE_SEARCH_API_KEY = "<alnum:31>"',
            '"DASHSCOPE_MCP_URL": "https://host.example/<hex:20>"',
            '{"tavilyApiKey": "<alnum:24>"}',
        ),
        misses=(
            "TAVILY_API_KEY=${TAVILY_API_KEY}",
            "BRAVE_API_KEY: <your key>",
            "DASHSCOPE_API_KEY=",
            "brave new world: <lower:12>",
            "TAVILY_API_KEY=<SET>",
            "tavilyApiKey: ${TAVILY_API_KEY}",
        ),
    ),
    SecretRule(
        id="prefixed-key-assignment",
        provider="Tavily, OpenAI and kin",
        keywords=("tvly-", "sk-"),
        pattern=(
            r"(?:[:=>|]|(?i:key|token)[ \t])[ \t]{0,16}[\[({\"'`]{0,3}(?:[Bb]earer[ \t]{1,4})?"
            rf"((?:tvly-|sk-)(?:{_KEY_TAIL}))(?:[^A-Za-z0-9_-]|$)"
        ),
        hits=(
            "key: tvly-<alnum:16>",
            "OPENAI=sk-<alnum:20>",
            "Authorization: Bearer sk-<alnum:24>",
            '{"apiKey":"sk-<alnum:12>"}',
            "key: sk-<lower:16>",
            "run --api-key sk-<alnum:20> --verbose",
            "<apiKey>sk-<alnum:20></apiKey>",
            "key: sk-test-<digit:10>",
            "key=sk-my-team-<alnum:32>-<alnum:8>",
            "key: tvly-dev-<lowernum:20>A",
        ),
        misses=(
            "name: task-management-tool",
            "title = risk-floor-2026-report",
            "app: flask-application-server",
            "sk-<alnum:4> is a prefix",
            "key: sk-<alnum:5>",
            "the key sk-learn-contrib",
            '<div class="sk-label-container">',
            'id="sk-estimator-id-12"',
            "class='sk-toggleable__label fitted'",
            "name: sk-learn-contrib-v2",
        ),
    ),
    SecretRule(
        id="key-in-url",
        provider="any",
        keywords=("api_key=", "apikey=", "token="),
        pattern=(
            r"(?i)\bhttps?://[^\s\"'<>]{1,800}[?&](?:api_key|apikey|token|tavilyApiKey)="
            r"([^\s\"'<>&${}#][^\s\"'<>&{}#]{7,400})"
        ),
        hits=(
            "https://mcp.example/mcp/?tavilyApiKey=<alnum:24>",
            "curl 'http://host.example/v1?x=1&api_key=<hex:16>'",
            "GET https://host.example/?token=<base64url:20>&b=2",
        ),
        misses=(
            "https://host.example/?api_key=${KEY}",
            "https://host.example/?token=<token>",
            "https://host.example/?page_token_count=12345678",
            "https://host.example/?token=abc",
        ),
    ),
)
