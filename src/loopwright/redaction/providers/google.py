"""Credentials of Google: Cloud, Gemini, OAuth, Firebase, Workspace."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers.parts import named

RULES: tuple[SecretRule, ...] = (
    SecretRule(
        id="google-api-key",
        provider="Google",
        keywords=("aiza",),
        pattern=r"\b(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)",
        hits=(
            "GOOGLE_API_KEY=AIza<base64url:35>",
            "https://maps.googleapis.com/api?key=AIza<base64url:35>&v=3",
        ),
        misses=("GOOGLE_API_KEY=AIza<base64url:20>", "AIza<base64url:50>", "xAIza<base64url:35>", "AIza..."),
    ),
    SecretRule(
        id="google-gemini-auth-key",
        provider="Google Gemini",
        keywords=("aq.ab",),
        pattern=r"\b(AQ\.Ab[A-Za-z0-9_-]{40,60})(?:[^A-Za-z0-9_-]|$)",
        hits=("GEMINI_API_KEY=AQ.Ab<base64url:48>", "x-goog-api-key: AQ.Ab<base64url:48>"),
        misses=("AQ.Abc", "FAQ.Ab<base64url:48>", "AQ.Ab<base64url:20>"),
    ),
    SecretRule(
        id="google-service-account-key",
        provider="Google Cloud",
        keywords=("private_key",),
        pattern=(
            r"""\bprivate_key[\\"']{1,4}[ \t]{0,3}:[ \t]{0,3}[\\"']{1,4}"""
            r"(-----BEGIN PRIVATE KEY-----[\\nr]{2,8}[A-Za-z0-9+/]{40}[A-Za-z0-9+/=\\]{40,}(?:-----END PRIVATE KEY-----)?)"
        ),
        hits=(
            r'"private_key": "-----BEGIN PRIVATE KEY-----\n<base64:64>\n<base64:64>\n<base64:40>==\n-----END PRIVATE KEY-----\n"',
            r"{\"private_key\":\"-----BEGIN PRIVATE KEY-----\\n<base64:64>\\n<base64:64>\\n",
        ),
        misses=(
            r'"private_key": "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n"',
            '"private_key": "<your-private-key>"',
            '"private_key_id": "<hex:40>"',
        ),
    ),
    SecretRule(
        id="google-oauth-client-secret",
        provider="Google",
        keywords=("gocspx-",),
        pattern=r"\b(GOCSPX-[A-Za-z0-9_-]{28})(?:[^A-Za-z0-9_-]|$)",
        hits=('"client_secret":"GOCSPX-<base64url:28>"', "GOOGLE_CLIENT_SECRET=GOCSPX-<base64url:28>"),
        misses=("GOCSPX-your-secret", "GOCSPX-<base64url:12>", "GOCSPX-<base64url:40>"),
    ),
    SecretRule(
        id="google-oauth-refresh-token",
        provider="Google",
        keywords=("1//0",),
        pattern=r"\b1//0[A-Za-z0-9_-]{60,}",
        hits=('"refresh_token": "1//0g<base64url:98>"', "FIREBASE_TOKEN=1//0<base64url:99>"),
        misses=("x = 1//0", "1//0<base64url:20>", "11//0<base64url:99>"),
    ),
    SecretRule(
        id="google-oauth-access-token",
        provider="Google",
        keywords=("ya29.",),
        pattern=r"\bya29\.[A-Za-z0-9._-]{40,}",
        hits=("Authorization: Bearer ya29.a0<base64url:150>", '"access_token":"ya29.c.<base64url:200>"'),
        misses=("ya29.", "ya29.<alnum:10>", "maya29.<base64url:60>"),
    ),
    SecretRule(
        id="google-firebase-server-key",
        provider="Firebase",
        keywords=(":apa91b",),
        pattern=r"\b(AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{134})(?:[^A-Za-z0-9_-]|$)",
        hits=(
            "FCM_SERVER_KEY=AAAA<base64url:7>:APA91b<base64url:134>",
            "key=AAAA<base64url:7>:APA91b<base64url:134>;",
        ),
        misses=(
            "<base64url:22>:APA91b<base64url:134>",
            "AAAA<base64url:7>:APA91b<base64url:30>",
            "AAAA:APA91b...",
        ),
    ),
    SecretRule(
        id="google-storage-hmac-id",
        provider="Google Cloud",
        keywords=("goog",),
        pattern=r"\bGOOG(?:1E[A-Z0-9]{55}|[A-Z0-9]{20})\b",
        hits=("HMAC_ACCESS_ID=GOOG1E<uppernum:55>", "accessId: GOOG<uppernum:20>"),
        misses=("GOOG stock", "GOOG<uppernum:8>", "GOOGLE_APPLICATION_CREDENTIALS", "GOOG<lower:20>"),
    ),
    SecretRule(
        id="google-signed-url-signature",
        provider="Google Cloud",
        keywords=("x-goog-signature",),
        pattern=r"\bX-Goog-Signature=([0-9a-f]{128,})\b",
        hits=("https://storage.googleapis.com/b/o?X-Goog-SignedHeaders=host&X-Goog-Signature=<hex:512>",),
        misses=("X-Goog-Signature=<hex:40>", "X-Goog-Signature=${signature}"),
    ),
    SecretRule(
        id="google-calendar-private-address",
        provider="Google Calendar",
        keywords=("calendar/ical/",),
        pattern=r"\bcalendar/ical/[A-Za-z0-9._%@-]{3,200}/private-([0-9a-f]{32})/",
        hits=("https://calendar.google.com/calendar/ical/a%40b.com/private-<hex:32>/basic.ics",),
        misses=(
            "https://calendar.google.com/calendar/ical/a%40b.com/public/basic.ics",
            "calendar/ical/a%40b.com/private-<hex:8>/basic.ics",
        ),
    ),
    SecretRule(
        id="google-recaptcha-secret",
        provider="Google reCAPTCHA",
        keywords=("recaptcha",),
        pattern=named(r"recaptcha[a-z0-9_. -]{0,20}(?:secret|private)", r"6L[A-Za-z0-9_-]{38}"),
        hits=("RECAPTCHA_SECRET_KEY=6L<base64url:38>", "recaptcha_private_key: '6L<base64url:38>'"),
        misses=(
            "RECAPTCHA_SITE_KEY=6L<base64url:38>",
            "RECAPTCHA_SECRET_KEY=6L<base64url:10>",
            "RECAPTCHA_SECRET_KEY=changeme",
        ),
    ),
    SecretRule(
        id="google-chat-webhook",
        provider="Google Chat",
        keywords=("chat.googleapis.com",),
        pattern=r"\bchat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]{6,40}/messages\?key=([A-Za-z0-9_-]{39}&token=[A-Za-z0-9_%-]{20,100})",
        hits=(
            "https://chat.googleapis.com/v1/spaces/<alnum:11>/messages?key=AIza<base64url:35>&token=<base64url:43>%3D",
        ),
        misses=(
            "https://chat.googleapis.com/v1/spaces/AAAA/messages",
            "https://chat.googleapis.com/v1/spaces/<alnum:11>/messages?key=KEY&token=TOKEN",
        ),
    ),
)
