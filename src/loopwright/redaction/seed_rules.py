"""The rules that the contract names itself, as linear patterns with word borders."""

from __future__ import annotations

from loopwright.redaction.model import Rule

SEED_RULES: tuple[Rule, ...] = (
    Rule(
        id="search-service-assignment",
        provider="Tavily, Brave, DashScope",
        keywords=("tavily", "brave", "dashscope"),
        pattern=(
            r"(?i)\b(?:TAVILY|BRAVE|DASHSCOPE)[^\r\n:=]{0,80}(?:API_KEY|MCP_URL)[\"']?"
            r"[ \t]{0,16}[:=][ \t]{0,16}[\"']?([^\s\"'<>${}][^\s\"'<>{}]{7,400})"
        ),
        hits=(
            "TAVILY_API_KEY=<alnum:24>",
            'export BRAVE_SEARCH_API_KEY = "<alnum:31>"',
            '"DASHSCOPE_MCP_URL": "https://host.example/<hex:20>"',
        ),
        misses=(
            "TAVILY_API_KEY=${TAVILY_API_KEY}",
            "BRAVE_API_KEY: <your key>",
            "DASHSCOPE_API_KEY=",
            "brave new world: <lower:12>",
            "TAVILY_API_KEY=<SET>",
        ),
    ),
    Rule(
        id="prefixed-key-assignment",
        provider="Tavily, OpenAI and kin",
        keywords=("tvly-", "sk-"),
        pattern=(
            r"[:=][ \t]{0,16}[\[({\"'`]{0,3}(?:[Bb]earer[ \t]{1,4})?"
            r"((?:tvly-|sk-)[A-Za-z0-9_-]{10,300})"
        ),
        hits=(
            "key: tvly-<alnum:16>",
            "OPENAI=sk-<alnum:20>",
            "Authorization: Bearer sk-<alnum:24>",
            '{"apiKey":"sk-<alnum:12>"}',
        ),
        misses=(
            "name: task-management-tool",
            "title = risk-floor-2026-report",
            "app: flask-application-server",
            "sk-<alnum:4> is a prefix",
            "key: sk-<alnum:5>",
        ),
    ),
    Rule(
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
