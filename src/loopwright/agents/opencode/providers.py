"""The model providers that opencode can use: their variables for logging in, and their addresses. Data."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from loopwright.kernel.address import Address


class Provider(msgspec.Struct, frozen=True):
    """A model provider: variables of its keys, addresses, and other variables of its settings."""

    keys: tuple[str, ...] = ()
    hosts: tuple[Address, ...] = ()
    variables: tuple[str, ...] = ()


def _one(key: str, *hosts: str) -> Provider:
    return Provider((key,), tuple(map(Address, hosts)))


# The common ones; the user's own settings describe any other, with its address.
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": _one("ANTHROPIC_API_KEY", "api.anthropic.com", "console.anthropic.com"),
    "deepseek": _one("DEEPSEEK_API_KEY", "api.deepseek.com"),
    "github-copilot": Provider((), (Address("api.githubcopilot.com"), Address("api.github.com"))),
    "google": Provider(
        ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"), (Address("generativelanguage.googleapis.com"),)
    ),
    "groq": _one("GROQ_API_KEY", "api.groq.com"),
    "mistral": _one("MISTRAL_API_KEY", "api.mistral.ai"),
    "openai": _one("OPENAI_API_KEY", "api.openai.com", "chatgpt.com", "auth.openai.com"),
    "opencode": _one("OPENCODE_API_KEY", "opencode.ai"),
    "openrouter": _one("OPENROUTER_API_KEY", "openrouter.ai"),
    "xai": _one("XAI_API_KEY", "api.x.ai"),
}
# By the npm package of a described provider without an address: the default in each package's code (versions of October
# 2026). Packages that require an address, or derive it from a region, are left out.
PACKAGES: Mapping[str, Provider] = {
    "@ai-sdk/alibaba": _one("ALIBABA_API_KEY", "dashscope-intl.aliyuncs.com"),
    "@ai-sdk/anthropic": _one("ANTHROPIC_API_KEY", "api.anthropic.com"),
    "@ai-sdk/cerebras": _one("CEREBRAS_API_KEY", "api.cerebras.ai"),
    "@ai-sdk/cohere": _one("COHERE_API_KEY", "api.cohere.com"),
    "@ai-sdk/deepinfra": _one("DEEPINFRA_API_KEY", "api.deepinfra.com"),
    "@ai-sdk/deepseek": _one("DEEPSEEK_API_KEY", "api.deepseek.com"),
    "@ai-sdk/fireworks": _one("FIREWORKS_API_KEY", "api.fireworks.ai"),
    "@ai-sdk/gateway": _one("AI_GATEWAY_API_KEY", "ai-gateway.vercel.sh"),
    "@ai-sdk/google": _one("GOOGLE_GENERATIVE_AI_API_KEY", "generativelanguage.googleapis.com"),
    "@ai-sdk/groq": _one("GROQ_API_KEY", "api.groq.com"),
    "@ai-sdk/mistral": _one("MISTRAL_API_KEY", "api.mistral.ai"),
    "@ai-sdk/openai": _one("OPENAI_API_KEY", "api.openai.com"),
    "@ai-sdk/perplexity": _one("PERPLEXITY_API_KEY", "api.perplexity.ai"),
    "@ai-sdk/togetherai": _one("TOGETHER_API_KEY", "api.together.xyz"),
    "@ai-sdk/vercel": _one("VERCEL_API_KEY", "api.v0.dev"),
    "@ai-sdk/xai": _one("XAI_API_KEY", "api.x.ai"),
    "@openrouter/ai-sdk-provider": _one("OPENROUTER_API_KEY", "openrouter.ai"),
}
