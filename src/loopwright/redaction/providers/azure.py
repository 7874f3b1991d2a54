"""Credentials of Microsoft Azure, Entra ID, Azure DevOps and Microsoft Teams."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers.parts import UUID, UUID_EXAMPLE, assigned, given, named, spellings

RULES: tuple[SecretRule, ...] = (
    SecretRule(
        id="azure-storage-account-key",
        provider="Azure Storage",
        keywords=spellings("account_key", "storage_key"),
        pattern=named(r"(?:azure[_. -]?)?(?:account_key|storage_key|storage_account_key)", r"[A-Za-z0-9+/]{86}=="),
        hits=(
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=<base64:86>==;EndpointSuffix=core.windows.net",
            "AZURE_STORAGE_KEY=<base64:86>==",
        ),
        misses=(
            "AccountKey=<base64:40>==",
            "AccountKey=${KEY}",
            "AccountKey=<account-key>;EndpointSuffix=core",
        ),
    ),
    SecretRule(
        id="azure-cosmos-key",
        provider="Azure Cosmos DB",
        keywords=("cosmos", "documents.azure.com"),
        pattern=(
            rf"(?:{given('(?:azure[_. -]?)?cosmos[a-z0-9_. -]{0,30}key')}"
            r"|(?i:\bdocuments\.azure\.com(?::443)?/?;accountkey)=)([A-Za-z0-9+/]{86}==)"
        ),
        hits=(
            "COSMOS_PRIMARY_KEY=<base64:86>==",
            "AccountEndpoint=https://db.documents.azure.com:443/;AccountKey=<base64:86>==;",
        ),
        misses=(
            "COSMOS_KEY=<base64:40>==",
            "COSMOS_ENDPOINT=https://db.documents.azure.com:443/",
            "COSMOS_KEY=$KEY",
        ),
    ),
    SecretRule(
        id="azure-sas-signature",
        provider="Azure Storage",
        keywords=("sig=",),
        pattern=r"[?&;]sig=((?:[A-Za-z0-9/+]|%2[BbFf]){43}(?:=|%3[Dd]))",
        hits=(
            "https://a.blob.core.windows.net/c?sv=2024-11-04&sp=r&sig=<alnum:43>%3D",
            "?sv=2024-11-04&sr=b&sig=<alnum:20>%2B<alnum:22>%3D&se=2026-01-01",
        ),
        misses=("?sv=2024-11-04&sig=<signature>", "&sig=<alnum:20>%3D", "config=<alnum:43>="),
    ),
    SecretRule(
        id="azure-logic-apps-trigger-url",
        provider="Azure Logic Apps",
        keywords=("logic.azure.com", "powerplatform.com"),
        pattern=(
            r"\b(?:logic\.azure\.com|powerplatform\.com)(?::443)?/[A-Za-z0-9/_-]{0,80}workflows/[0-9a-f]{32}/triggers/"
            r"""[^ \t\r\n"'<>]{10,200}[?&]sig=([A-Za-z0-9_-]{43})"""
        ),
        hits=(
            "https://prod-01.westus.logic.azure.com:443/workflows/<hex:32>/triggers/manual/run?sv=1.0&sig=<base64url:43>",
        ),
        misses=(
            "https://prod-01.westus.logic.azure.com:443/workflows/<hex:32>/triggers/manual/paths/invoke?api-version=2016-10-01",
            "https://management.azure.com/workflows/<hex:32>/triggers/manual?sig=<base64url:43>",
        ),
    ),
    SecretRule(
        id="azure-entra-client-secret",
        provider="Microsoft Entra ID",
        keywords=("7q~", "8q~"),
        # The value may end a sentence, so the border after it lets a full stop through.
        pattern=r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~-]|$)",
        hits=(
            "AZURE_CLIENT_SECRET=<alnum:3>8Q~<base64url:34>",
            '"clientSecret": "<alnum:3>7Q~<base64url:31>"',
        ),
        misses=("AZURE_CLIENT_SECRET=<alnum:3>8Q~<alnum:12>", "8Q~ and 7Q~", "<alnum:20>8Q~<alnum:60>"),
    ),
    SecretRule(
        id="azure-devops-token",
        provider="Azure DevOps",
        keywords=("azdo",),
        pattern=r"\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b",
        hits=("AZURE_DEVOPS_EXT_PAT=<alnum:76>AZDO<alnum:4>",),
        misses=("AZDO_ORG_SERVICE_URL", "<alnum:40>AZDO<alnum:4>", "<alnum:90>AZDO<alnum:4>"),
    ),
    SecretRule(
        id="azure-devops-legacy-token",
        provider="Azure DevOps",
        keywords=("devops", "vsts", "azdo"),
        pattern=named(r"(?:azure[_. -]?)?(?:devops|vsts|azdo)[a-z0-9_. -]{0,20}(?:pat|token)", r"[a-z2-7]{52}"),
        hits=("AZURE_DEVOPS_EXT_PAT=<lower:52>", "vsts_token: <lower:52>"),
        misses=(
            "AZURE_DEVOPS_EXT_PAT=<lower:30>",
            "AZURE_DEVOPS_EXT_PAT=$(System.AccessToken)",
            "devops team: <lower:52>",
        ),
    ),
    SecretRule(
        id="azure-shared-access-key",
        provider="Azure Service Bus",
        keywords=("sharedaccesskey",),
        pattern=r"\bSharedAccessKey=([A-Za-z0-9+/]{43}=)",
        hits=(
            "Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=<base64:43>=",
            "HostName=h.azure-devices.net;DeviceId=d;SharedAccessKey=<base64:43>=",
        ),
        misses=(
            "SharedAccessKeyName=RootManageSharedAccessKey",
            "SharedAccessKey=<key>",
            "SharedAccessKey=<base64:10>=",
        ),
    ),
    SecretRule(
        id="azure-function-key",
        provider="Azure Functions",
        keywords=("azurewebsites.net", *spellings("x_functions_key")),
        pattern=(
            rf"(?:\bazurewebsites\.net/api/[A-Za-z0-9/_-]{{1,80}}\?code=|{given('x_functions_key')})"
            r"([A-Za-z0-9_/+%-]{40,80}={0,2})"
        ),
        hits=(
            "https://app.azurewebsites.net/api/run?code=<base64url:54>==",
            "x-functions-key: <base64url:44>AzFu<base64url:6>==",
            '{"x-functions-key": "<base64url:44>AzFu<base64url:6>=="}',
            "X_FUNCTIONS_KEY=<base64url:44>AzFu<base64url:6>==",
        ),
        misses=(
            "https://app.azurewebsites.net/api/run?code=<key>",
            "x-functions-key: $KEY",
            "x-functions-key: <alnum:12>",
            '{"x-functions-key": "<your key>"}',
            "FUNCTIONS_KEY=<alnum:12>",
        ),
    ),
    SecretRule(
        id="azure-search-key",
        provider="Azure AI Search",
        keywords=("azse",),
        pattern=r"\b[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}\b",
        hits=("api-key: <alnum:42>AzSeA<alnum:5>", "AZURE_SEARCH_KEY=<alnum:42>AzSeD<alnum:5>"),
        misses=("<alnum:20>AzSeA<alnum:5>", "AzSearchClient", "<alnum:50>AzSeA<alnum:5>"),
    ),
    SecretRule(
        id="azure-container-registry-key",
        provider="Azure Container Registry",
        keywords=("+acr",),
        pattern=r"(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5})(?:[^A-Za-z0-9+/=]|$)",
        hits=("ACR_PASSWORD=<base64:42>+ACRA<base64:5>", 'password: "<base64:42>+ACRC<base64:5>"'),
        misses=("<base64:20>+ACRA<base64:5>", "<base64:80>+ACRA<base64:5>", "AKS+ACR"),
    ),
    SecretRule(
        id="azure-redis-key",
        provider="Azure Cache for Redis",
        keywords=("azca",),
        pattern=r"\b([A-Za-z0-9]{33}AzCa[A-P][A-Za-z0-9]{5}=)(?:[^A-Za-z0-9=]|$)",
        hits=("c.redis.cache.windows.net:6380,password=<alnum:33>AzCaB<alnum:5>=,ssl=True",),
        misses=("<alnum:12>AzCaB<alnum:5>=", "AzCache", "<alnum:40>AzCaB<alnum:5>="),
    ),
    SecretRule(
        id="azure-ai-services-key",
        provider="Azure AI Services",
        keywords=("acog",),
        pattern=r"\b[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{18}ACOG[A-Za-z0-9]{4}\b",
        hits=("AZURE_OPENAI_API_KEY=<alnum:52>JQQJ99<alnum:18>ACOG<alnum:4>",),
        misses=("<alnum:30>JQQJ99<alnum:18>ACOG<alnum:4>", "ACOG guidelines", "<alnum:84>"),
    ),
    SecretRule(
        id="azure-ai-services-legacy-key",
        provider="Azure AI Services",
        keywords=("azure",),
        pattern=assigned(r"azure[_ -]?(?:open_?ai|ai|cognitive|speech|vision|translator)", r"[0-9a-f]{32}"),
        hits=("AZURE_OPENAI_API_KEY=<hex:32>", '"azure_speech_key": "<hex:32>"'),
        misses=(
            "AZURE_OPENAI_API_KEY=<hex:20>",
            "AZURE_OPENAI_API_KEY=your-key",
            "azure openai deployment <hex:32>",
        ),
    ),
    SecretRule(
        id="azure-subscription-key",
        provider="Azure API Management",
        keywords=spellings("ocp_apim_subscription_key"),
        pattern=named(r"ocp-apim-subscription-key", r"[0-9a-f]{32}"),
        hits=("Ocp-Apim-Subscription-Key: <hex:32>", '"Ocp-Apim-Subscription-Key": "<hex:32>"'),
        misses=("Ocp-Apim-Subscription-Key: {subscription key}", "Ocp-Apim-Subscription-Key: <hex:12>"),
    ),
    SecretRule(
        id="azure-app-configuration-secret",
        provider="Azure App Configuration",
        keywords=("azconfig.io",),
        pattern=r"\bazconfig\.io;Id=[A-Za-z0-9+/=:_-]{4,100};Secret=([A-Za-z0-9+/=_-]{40,100})",
        hits=("Endpoint=https://c.azconfig.io;Id=<alnum:4>-l0-s0:<alnum:20>;Secret=<base64:43>=",),
        misses=("Endpoint=https://c.azconfig.io", "Endpoint=https://c.azconfig.io;Id=abcd;Secret=<secret>"),
    ),
    SecretRule(
        id="azure-communication-services-key",
        provider="Azure Communication Services",
        keywords=("communication.azure.com",),
        pattern=r"\bcommunication\.azure\.com/?;(?i:accesskey)=([A-Za-z0-9+/=]{64,100})",
        hits=("endpoint=https://r.communication.azure.com/;accesskey=<base64:86>==",),
        misses=(
            "endpoint=https://r.communication.azure.com/",
            "https://r.communication.azure.com/;accesskey=<key>",
        ),
    ),
    SecretRule(
        id="azure-signalr-access-key",
        provider="Azure SignalR",
        keywords=("service.signalr.net", "webpubsub.azure.com"),
        pattern=r"\b(?:service\.signalr\.net|webpubsub\.azure\.com)/?;AccessKey=([A-Za-z0-9+/=]{40,100})",
        hits=("Endpoint=https://s.service.signalr.net;AccessKey=<base64:43>=;Version=1.0;",),
        misses=(
            "Endpoint=https://s.service.signalr.net;AuthType=azure",
            "https://s.service.signalr.net;AccessKey=<key>",
        ),
    ),
    SecretRule(
        id="microsoft-teams-webhook",
        provider="Microsoft Teams",
        keywords=("webhook.office.com",),
        pattern=r"\bwebhook\.office\.com/webhookb2/"
        + UUID
        + "@"
        + UUID
        + r"/[A-Za-z]{8,30}/([0-9a-f]{32}/"
        + UUID
        + ")",
        hits=(
            "https://c.webhook.office.com/webhookb2/"
            + UUID_EXAMPLE
            + "@"
            + UUID_EXAMPLE
            + "/IncomingWebhook/<hex:32>/"
            + UUID_EXAMPLE,
        ),
        misses=(
            "https://c.webhook.office.com/webhookb2/...",
            "https://c.webhook.office.com/webhookb2/" + UUID_EXAMPLE,
        ),
    ),
)
