"""Credentials of identity providers, clusters and protocols: tokens, headers, password hashes."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers.parts import (
    ASSIGNMENT,
    UUID,
    UUID_EXAMPLE,
    given,
    named,
    password_in_url,
    spellings,
)

_SCHEMES = (
    *("http", "https", "ws", "wss", "ftp", "sftp", "ssh", "smtp", "smtps", "imap", "imaps"),
    *("ldap", "ldaps", "socks5", "socks5h", "nats", "mqtt", "mqtts", "rtsp"),
)

RULES: tuple[SecretRule, ...] = (
    SecretRule(
        id="json-web-token",
        provider="JWT",
        keywords=("eyj",),
        pattern=r"\beyJ[A-Za-z0-9_-]{8,600}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}",
        hits=(
            "eyJ<base64url:33>.eyJ<base64url:120>.<base64url:43>",
            "token: eyJ<base64url:60>.eyJ<base64url:700>.<base64url:342>",
        ),
        misses=("eyJ<base64url:33>.<base64url:20>", "eyJhbGciOi...", "eyJ<base64url:33>.eyJ<base64url:40>"),
    ),
    SecretRule(
        id="authorization-bearer",
        provider="HTTP",
        keywords=("bearer",),
        pattern=(
            rf"(?i:\bauthorization){ASSIGNMENT}(?i:bearer)[ \t]{{1,3}}"
            r"([A-Za-z._~+/-]{0,60}[0-9][A-Za-z0-9._~+/=-]{15,})"
        ),
        hits=(
            "Authorization: Bearer 9<alnum:39>",
            'headers["Authorization"] = "Bearer 7<base64url:60>"',
            r"\"authorization\": \"bearer 4<alnum:40>\"",
        ),
        misses=(
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer <your-access-token>",
            "Authorization: Bearer your-access-token-goes-here",
        ),
    ),
    SecretRule(
        id="authorization-basic",
        provider="HTTP",
        keywords=("basic",),
        pattern=(
            rf"(?i:\bauthorization){ASSIGNMENT}(?i:basic)[ \t]{{1,3}}"
            r"([A-Za-z+/]{0,60}[0-9][A-Za-z0-9+/]{11,}={0,2}|[A-Za-z0-9+/]{11,200}={1,2})"
        ),
        hits=("Authorization: Basic 4<base64:31>", '"Authorization": "Basic <base64:22>=="'),
        misses=(
            "Authorization: Basic authentication",
            "Authorization: Basic ${CREDENTIALS}",
            "Authorization: Basic <credentials>",
        ),
    ),
    SecretRule(
        id="url-basic-auth",
        provider="HTTP",
        keywords=tuple(f"{scheme}://" for scheme in _SCHEMES),
        pattern=password_in_url("|".join(_SCHEMES)),
        hits=(
            "https://deploy:<alnum:20>@git.example.com/repo.git",
            "ftp://app:<lower:5>1<lower:5>@files.example.com",
            "smtps://app:<alnum:20>@mail.example.com:465",
            "wss://app:<alnum:24>@queue.example.com/v1",
        ),
        misses=(
            "https://user:password@example.com",
            "http://localhost:8080/@scope/package",
            "https://x:${TOKEN}@github.com/o/r",
            "smtp://user:password@mail.example.com",
            "ldap://directory.example.com:389/dc=example",
        ),
    ),
    SecretRule(
        id="netrc-password",
        provider="netrc",
        keywords=("machine",),
        pattern=(
            r"\bmachine[ \t]{1,4}[^ \t\r\n]{3,100}[ \t]{1,8}login[ \t]{1,4}[^ \t\r\n]{1,100}"
            r"[ \t]{1,8}password[ \t]{1,4}([^ \t\r\n\"'<>${}]{10,200})"
        ),
        hits=(
            "machine api.heroku.com login me@example.com password <alnum:36>",
            "machine github.com login me password <alnum:40>",
        ),
        misses=(
            "machine example.com login me password ${PASSWORD}",
            "machine example.com login me password <password>",
        ),
    ),
    SecretRule(
        id="bcrypt-hash",
        provider="bcrypt",
        keywords=("$2a$", "$2b$", "$2y$"),
        pattern=r"\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}",
        hits=("admin:$2y$05$<alnum:53>", "password_hash: $2b$12$<alnum:53>"),
        misses=("$2b$12$", "$2a$10$<alnum:20>", "cost $2b"),
    ),
    SecretRule(
        id="unix-password-hash",
        provider="Unix",
        keywords=("$6$", "$5$", "$y$"),
        pattern=(
            r"\$(?:6\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}"
            r"|5\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}"
            r"|y\$[./A-Za-z0-9]{2,6}\$[./A-Za-z0-9]{8,86}\$[./A-Za-z0-9]{43})"
        ),
        hits=(
            "root:$6$<alnum:16>$<alnum:86>:19000:0:99999:7:::",
            "me:$y$j9T$<alnum:22>$<alnum:43>:19000:0:",
            "$5$<alnum:16>$<alnum:43>",
        ),
        misses=("root:!:19000:0:99999:7:::", "$6$salt$", "costs $5$"),
    ),
    SecretRule(
        id="otpauth-secret",
        provider="TOTP",
        keywords=("otpauth://",),
        pattern=r"\botpauth://[th]otp/[^ \t\r\n\"'<>?]{0,120}\?(?:[A-Za-z]{2,12}=[^ \t\r\n\"'<>&]{0,60}&)?secret=([A-Z2-7]{16,128})",
        hits=(
            "otpauth://totp/Example:me@example.com?secret=<base32:32>&issuer=Example",
            "otpauth://hotp/a?issuer=E&secret=<base32:16>",
        ),
        misses=("otpauth://totp/Example?secret=SECRET", "otpauth://totp/Example:me?issuer=Example"),
    ),
    SecretRule(
        id="okta-api-token",
        provider="Okta",
        keywords=("okta", "ssws"),
        pattern=(
            rf"(?:{given('okta[a-z0-9_. -]{0,20}token')}|\bSSWS[ \t]{{1,3}})(00[A-Za-z0-9_-]{{40}})(?:[^A-Za-z0-9_-]|$)"
        ),
        hits=("Authorization: SSWS 00<base64url:40>", "OKTA_API_TOKEN=00<base64url:40>"),
        misses=("Authorization: SSWS $TOKEN", "OKTA_API_TOKEN=00<base64url:8>", "okta user 00<base64url:18>"),
    ),
    SecretRule(
        id="auth0-client-secret",
        provider="Auth0",
        keywords=("auth0",),
        pattern=named(r"auth0[a-z0-9_. -]{0,20}secret", r"[A-Za-z0-9_-]{64}"),
        hits=("AUTH0_CLIENT_SECRET=<base64url:64>",),
        misses=("AUTH0_CLIENT_ID=<alnum:32>", "AUTH0_CLIENT_SECRET=<alnum:8>", "AUTH0_CLIENT_SECRET=$SECRET"),
    ),
    SecretRule(
        id="clerk-secret-key",
        provider="Clerk",
        keywords=("clerk",),
        pattern=named(r"clerk[a-z0-9_. -]{0,20}key", r"sk_(?:live|test)_[A-Za-z0-9]{40,50}"),
        hits=("CLERK_SECRET_KEY=sk_live_<alnum:42>", "CLERK_SECRET_KEY=sk_test_<alnum:42>"),
        misses=("CLERK_PUBLISHABLE_KEY=pk_live_<alnum:42>", "CLERK_SECRET_KEY=sk_test_<alnum:8>"),
    ),
    SecretRule(
        id="duo-secret-key",
        provider="Duo",
        keywords=("duo_", "skey", *spellings("duo_secret")),
        pattern=named(r"duo[_. -]?[a-z0-9_. -]{0,12}(?:secret|skey)[a-z_]{0,6}|skey", r"[A-Za-z0-9]{40}"),
        hits=("DUO_SECRET_KEY=<alnum:40>", "skey = <alnum:40>"),
        misses=("ikey = DI<uppernum:18>", "DUO_SECRET_KEY=<alnum:8>", "skey=$SKEY"),
    ),
    SecretRule(
        id="stytch-secret",
        provider="Stytch",
        keywords=("secret-live-", "secret-test-"),
        pattern=r"\bsecret-(?:live|test)-[A-Za-z0-9_-]{36}=",
        hits=("STYTCH_SECRET=secret-test-<base64url:36>=", "STYTCH_SECRET=secret-live-<base64url:36>="),
        misses=("secret-test-<alnum:8>", "project-test-" + UUID_EXAMPLE, "secret-live-..."),
    ),
    SecretRule(
        id="ory-token",
        provider="Ory",
        keywords=("ory_",),
        pattern=r"\bory_(?:pat|at|rt|ac|st)_[A-Za-z0-9._-]{32,}",
        hits=("ORY_ACCESS_TOKEN=ory_pat_<alnum:32>", "ory_at_<base64url:43>.<base64url:43>"),
        misses=("ory_pat_<alnum:8>", "history_at_<alnum:40>", "ory_session"),
    ),
    SecretRule(
        id="permit-api-key",
        provider="Permit.io",
        keywords=("permit_key_",),
        pattern=r"\bpermit_key_[A-Za-z0-9]{80,90}\b",
        hits=("PERMIT_API_KEY=permit_key_<alnum:86>",),
        misses=("permit_key_<alnum:8>", "xpermit_key_<alnum:86>"),
    ),
    SecretRule(
        id="kubeadm-bootstrap-token",
        provider="Kubernetes",
        keywords=("kubeadm",),
        pattern=r"\bkubeadm join [A-Za-z0-9.:\[\]-]{3,100} --token[ =]([a-z0-9]{6}\.[a-z0-9]{16})\b",
        hits=(
            "kubeadm join 10.0.0.1:6443 --token <lowernum:6>.<lowernum:16> --discovery-token-ca-cert-hash sha256:<hex:64>",
        ),
        misses=("kubeadm join 10.0.0.1:6443 --token <token>", "kubeadm token create"),
    ),
    SecretRule(
        id="k3s-node-token",
        provider="K3s",
        keywords=("::server:", "::node:"),
        pattern=r"\bK10[0-9a-f]{64}::(?:server|node):[0-9a-f]{32}\b",
        hits=("K3S_TOKEN=K10<hex:64>::server:<hex:32>", "K10<hex:64>::node:<hex:32>"),
        misses=("K10<hex:64>", "K3S_TOKEN=K10...::server:...", "std::server::node"),
    ),
    SecretRule(
        id="rancher-api-token",
        provider="Rancher",
        keywords=("token-", "kubeconfig-u"),
        pattern=r"\b(?:token-[a-z0-9]{5}|kubeconfig-u(?:ser)?-[a-z0-9]{5,14}):[a-z0-9]{54}\b",
        hits=(
            "RANCHER_TOKEN=token-<lowernum:5>:<lowernum:54>",
            "token: kubeconfig-user-<lowernum:10>:<lowernum:54>",
        ),
        misses=(
            "token-<lowernum:5>:<lowernum:8>",
            "token-based: authentication",
            "xtoken-<lowernum:5>:<lowernum:54>",
        ),
    ),
    SecretRule(
        id="apple-app-specific-password",
        provider="Apple",
        keywords=("apple", "notar"),
        pattern=named(
            r"(?:apple|notari[sz]ation|notarytool)[a-z0-9_. -]{0,30}password",
            r"[a-z]{4}-[a-z]{4}-[a-z]{4}-[a-z]{4}",
        ),
        hits=(
            "APPLE_APP_SPECIFIC_PASSWORD=<lower:4>-<lower:4>-<lower:4>-<lower:4>",
            "NOTARIZATION_PASSWORD: <lower:4>-<lower:4>-<lower:4>-<lower:4>",
        ),
        misses=(
            "APPLE_PASSWORD=<lower:4>-<lower:4>",
            "APPLE_ID_PASSWORD=$PASSWORD",
            "apple: <lower:4>-<lower:4>-<lower:4>-<lower:4>",
        ),
    ),
    SecretRule(
        id="bluesky-app-password",
        provider="Bluesky",
        keywords=("bluesky", "bsky", "atproto"),
        pattern=named(
            r"(?:bluesky|bsky|atproto)[a-z0-9_. -]{0,20}password",
            r"[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}",
        ),
        hits=(
            "BLUESKY_APP_PASSWORD=<lowernum:4>-<lowernum:4>-<lowernum:4>-<lowernum:4>",
            "bsky_password: <lowernum:4>-<lowernum:4>-<lowernum:4>-<lowernum:4>",
        ),
        misses=(
            "BLUESKY_APP_PASSWORD=<lowernum:4>",
            "BSKY_HANDLE=me.bsky.social",
            "BLUESKY_APP_PASSWORD=$PASSWORD",
        ),
    ),
    SecretRule(
        id="keycloak-client-secret",
        provider="Keycloak",
        keywords=("keycloak",),
        pattern=named(r"keycloak[a-z0-9_. -]{0,20}secret", UUID + r"|[A-Za-z0-9]{32}"),
        hits=("KEYCLOAK_CLIENT_SECRET=" + UUID_EXAMPLE, "keycloak_secret: <alnum:32>"),
        misses=(
            "KEYCLOAK_CLIENT_ID=" + UUID_EXAMPLE,
            "KEYCLOAK_CLIENT_SECRET=$SECRET",
            "KEYCLOAK_CLIENT_SECRET=<hex:8>",
        ),
    ),
)
