"""Private key blocks and key files."""

from __future__ import annotations

import base64

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers.parts import named, spellings

# Line ends may be real or written as \n within JSON; a diff or a quotation may put a sign before each line.
_GAP = r"""[\\rn \t\r\n"'+,>|-]{0,40}"""
_PEM_ENCRYPTION = r"(?:Proc-Type: 4,ENCRYPTED[\\rn \t\r\n+-]{1,12}DEK-Info: [A-Z0-9-]{5,20},[0-9A-Fa-f]{16,32})?"
_BODY = r"""[A-Za-z0-9+/]{40}(?:(?:\n|\\n)-[A-Za-z0-9+/]|[A-Za-z0-9+/=\\ \t\r\n"',>|])*"""
_END = r"(?:-{5,6}END [A-Z ]{0,40}-----)?"
# Text is read by lines: of a block over several lines only the header is seen, at the end of its line or,
# in source code, before a written \n. A header that is merely named ends in a quotation mark without \n.
_LINE_END = r"""(?:\\n["']?[ \t\r,+\\]{0,4}|[ \t\r]{0,4})(?m:$)"""

_EXAMPLE_BODY = "\n<base64:64>\n<base64:64>\n<base64:30>==\n"
_JSON_EXAMPLE_BODY = r"\n<base64:64>\n<base64:64>\n<base64:30>==\n"


def _block(label: str) -> str:
    return rf"-----BEGIN {label}-----(?:{_GAP}{_PEM_ENCRYPTION}{_GAP}{_BODY}{_END}|{_LINE_END})"


# Without its header, for example in quoted lines, a key is recognized by the magic at its start.
_STARTS = (
    r"MII[A-Z][A-Za-z0-9+/]{2}IBAAK[BC]",  # PKCS #1
    r"MII[A-Z][A-Za-z0-9+/]{2}IBADANBgkqhkiG9w0BAQEFAASC",  # PKCS #8 with an RSA key
    r"MI[GH][A-Za-z0-9+/]AgEAMB[AM]GByqGSM49AgEG",  # PKCS #8 with an EC key
    r"M(?:HcCAQEEI|HQCAQEEI|IGkAgEBBD|IHcAgEBBE)",  # SEC 1
    r"MC4CAQAwBQYDK2VwBCIEI",  # PKCS #8 with an Ed25519 key
    r"b3BlbnNzaC1rZXktdjEA",  # OpenSSH
)

KEY_BODY_RULE = "private-key-body"
ENCODED_KEY_RULE = "private-key-base64"
_LABELS = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")


def _encoded_header(label: str, lead: int) -> str:
    """The base64 of a key's header after `lead` other bytes, without the characters that depend on its neighbours."""
    header = f"-----BEGIN {label}PRIVATE KEY-----".encode()
    return base64.b64encode(b"\0" * lead + header)[4 if lead else 0 : (len(header) + lead) // 3 * 4].decode()


_ENCODED_HEADERS = tuple(_encoded_header(label, lead) for label in _LABELS for lead in range(3))


RULES: tuple[SecretRule, ...] = (
    SecretRule("private-key-rsa", "PEM", ("begin rsa private key",),
        _block("RSA PRIVATE KEY"),
        hits=("-----BEGIN RSA PRIVATE KEY-----" + _EXAMPLE_BODY + "-----END RSA PRIVATE KEY-----",
              "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,<HEX:32>\n" + _EXAMPLE_BODY),
        misses=("-----BEGIN RSA PRIVATE KEY-----...-----END RSA PRIVATE KEY-----",
                "-----BEGIN RSA PUBLIC KEY-----" + _EXAMPLE_BODY,
                'if "-----BEGIN RSA PRIVATE KEY-----" in text: raise ValueError')),
    SecretRule("private-key-ec", "PEM", ("begin ec private key",),
        _block("EC PRIVATE KEY"),
        hits=("-----BEGIN EC PRIVATE KEY-----" + _EXAMPLE_BODY + "-----END EC PRIVATE KEY-----",
              '{"privateKey": "-----BEGIN EC PRIVATE KEY-----' + _JSON_EXAMPLE_BODY + '-----END EC PRIVATE KEY-----"}'),
        misses=("-----BEGIN EC PRIVATE KEY-----<key>", "-----BEGIN EC PARAMETERS-----" + _EXAMPLE_BODY)),
    SecretRule("private-key-dsa", "PEM", ("begin dsa private key",),
        _block("DSA PRIVATE KEY"),
        hits=("-----BEGIN DSA PRIVATE KEY-----" + _EXAMPLE_BODY + "-----END DSA PRIVATE KEY-----",),
        misses=("-----BEGIN DSA PRIVATE KEY-----...", "-----BEGIN DSA PARAMETERS-----" + _EXAMPLE_BODY)),
    SecretRule("private-key-openssh", "OpenSSH", ("begin openssh private key",),
        _block("OPENSSH PRIVATE KEY"),
        hits=("-----BEGIN OPENSSH PRIVATE KEY-----",
              "-----BEGIN OPENSSH PRIVATE KEY-----" + _EXAMPLE_BODY + "-----END OPENSSH PRIVATE KEY-----",
              "key: |\n  -----BEGIN OPENSSH PRIVATE KEY-----\n  <base64:70>\n  <base64:70>\n  -----END OPENSSH PRIVATE KEY-----",
              "------BEGIN OPENSSH PRIVATE KEY-----\n-<base64:70>\n-<base64:70>\n------END OPENSSH PRIVATE KEY-----"),
        misses=('MARKERS = ["-----BEGIN OPENSSH PRIVATE KEY-----"]', "ssh-ed25519 <base64:68> me@host",
                "-----BEGIN OPENSSH PRIVATE KEY----- is the header")),
    SecretRule("private-key-pkcs8", "PEM", ("begin private key",),
        _block("PRIVATE KEY"),
        hits=("-----BEGIN PRIVATE KEY-----" + _EXAMPLE_BODY + "-----END PRIVATE KEY-----",
              r'"key": "-----BEGIN PRIVATE KEY-----' + _JSON_EXAMPLE_BODY + '-----END PRIVATE KEY-----"'),
        misses=("-----BEGIN PRIVATE KEY-----your key here-----END PRIVATE KEY-----",
                "-----BEGIN CERTIFICATE-----" + _EXAMPLE_BODY, "-----BEGIN PUBLIC KEY-----" + _EXAMPLE_BODY)),
    SecretRule("private-key-encrypted", "PEM", ("begin encrypted",),
        _block(r"ENCRYPTED (?:COSIGN |SIGSTORE )?PRIVATE KEY"),
        hits=("-----BEGIN ENCRYPTED PRIVATE KEY-----" + _EXAMPLE_BODY + "-----END ENCRYPTED PRIVATE KEY-----",
              "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----" + _EXAMPLE_BODY),
        misses=("-----BEGIN ENCRYPTED PRIVATE KEY-----...", "-----BEGIN ENCRYPTED MESSAGE-----" + _EXAMPLE_BODY)),
    SecretRule("private-key-pgp", "PGP", ("begin pgp private key block",),
        r"-----BEGIN PGP PRIVATE KEY BLOCK-----"
            r"(?:(?:[\\rn \t\r\n]{1,12}(?:Version|Comment): [^\r\n\\]{1,100})?"
            rf"{_GAP}{_BODY}{_END}|{_LINE_END})",
        hits=("-----BEGIN PGP PRIVATE KEY BLOCK-----" + _EXAMPLE_BODY + "=<base64:4>\n-----END PGP PRIVATE KEY BLOCK-----",
              "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n" + _EXAMPLE_BODY),
        misses=("-----BEGIN PGP PRIVATE KEY BLOCK-----...", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n" + _EXAMPLE_BODY)),
    SecretRule("private-key-putty", "PuTTY", ("private-lines:",),
        rf"\bPrivate-Lines: [0-9]{{1,3}}(?:[\\rn \t\r\n]{{1,12}}[A-Za-z0-9+/]{{40}}[A-Za-z0-9+/=\\ \t\r\n]{{20,}}|{_LINE_END})",
        hits=("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n<base64:64>\n<base64:40>==\n",
              "PuTTY-User-Key-File-3: ssh-ed25519  Private-Lines: 2  <base64:64>  <base64:40>=="),
        misses=("the line Private-Lines: 14 counts them", "Public-Lines: 2\n<base64:64>\n<base64:64>\n")),
    SecretRule(KEY_BODY_RULE, "PEM",
        ("ibaakb", "ibaakc", "ibadanbgkqhkig9w0baqefaasc", "gbyqgsm49ageg", "mhccaqeei", "mhqcaqeei", "migkagebbd",
         "mihcagebbe", "mc4caqawbqydk2vwbciei", "b3blbnnzac1rzxktdjea"),
        rf"(?:^|[^A-Za-z0-9+/])((?:{'|'.join(_STARTS)})[A-Za-z0-9+/]{{20,}}={{0,2}})",
        hits=('"MIIEowIBAAKCAQEA<base64:48>" +', "key = 'MIICXAIBAAKBgQ<base64:50>'", "MIIEvAIBADANBgkqhkiG9w0BAQEFAASC<base64:32>",
              "> MIGHAgEAMBMGByqGSM49AgEG<base64:40>", "MHcCAQEEI<base64:55>", "MC4CAQAwBQYDK2VwBCIEI<base64:43>",
              '"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE<base64:34>",'),
        misses=("MIIDdzCCAl+gAwIBAgIE<base64:44>", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A<base64:32>",
                "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE<base64:28>", "MIIEowIBAAKCAQEA...", "xMHcCAQEEI<base64:55>")),
    SecretRule(ENCODED_KEY_RULE, "PEM", tuple(header.lower() for header in _ENCODED_HEADERS),
        rf"(?:{'|'.join(_ENCODED_HEADERS)})[A-Za-z0-9+/_-]{{8,}}={{0,2}}",
        hits=tuple(f"KEY_B64={header}<base64:200>==" for header in _ENCODED_HEADERS),
        misses=("KEY_B64=LS0tLS1CRUdJTi<base64:40>", "cert: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t<base64:200>",
                "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0t...")),
    SecretRule("kubernetes-client-key", "Kubernetes", spellings("client_key_data"),
        named("(?:kube[_. -]?)?client_key_data", r"[A-Za-z0-9+/]{100,}={0,2}"),
        hits=("    client-key-data: LS0tLS1CRUdJTi<base64:300>==", '"client-key-data": "LS0tLS1CRUdJTi<base64:300>"',
              "KUBE_CLIENT_KEY_DATA=LS0tLS1CRUdJTi<base64:300>=="),
        misses=("client-key-data: <base64-encoded-key>", "client-certificate-data: <base64:300>",
                "client-key-data: REDACTED", "KUBE_CLIENT_KEY_DATA=$CLIENT_KEY")),
    SecretRule("nats-nkey-seed", "NATS", ("nkey seed",),
        rf"-----BEGIN (?:USER|ACCOUNT|OPERATOR) NKEY SEED-----(?:[\\rn\r\n]{{1,8}}S[A-Z2-7]{{57}}\b|{_LINE_END})",
        hits=("-----BEGIN USER NKEY SEED-----\nSU<base32:56>\n------END USER NKEY SEED------",),
        misses=("-----BEGIN USER NKEY SEED-----...", "-----BEGIN NATS USER JWT-----\n<base32:58>")),
    SecretRule("json-web-key-private", "JOSE", ('"kty',),
        r"\\{0,3}\"kty\\{0,3}\"[ \t]{0,3}:[^{}]{1,900}\"d\\{0,3}\"[ \t]{0,3}:[ \t]{0,3}\\{0,3}\"([A-Za-z0-9_-]{40,})",
        hits=('{"kty":"EC","crv":"P-256","x":"<base64url:43>","y":"<base64url:43>","d":"<base64url:43>"}',),
        misses=('{"kty":"EC","crv":"P-256","x":"<base64url:43>","y":"<base64url:43>"}',
                '{"kty":"RSA","n":"<base64url:342>","e":"AQAB"}')),
)
