"""Redaction of streams: the same result however the stream is cut, and nothing ever gets through."""

from __future__ import annotations

import base64
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.redaction import redactor as redactor_module
from loopwright.redaction.build import SHIPPED_RULES, build_redactor
from loopwright.redaction.detector import Detector, SecretHit
from loopwright.redaction.environment_values import printed_forms, secret_values
from loopwright.redaction.examples import expand
from loopwright.redaction.model import Redacted, RuleAction
from loopwright.redaction.redactor import Learned, Redactor, fingerprint
from loopwright.redaction.secret_names import looks_secret
from loopwright.workspace.settings_model import SecretsSettings

TOKEN = expand("ghp_<alnum:36>", 5)
VALUE = "correct horse battery staple"
REDACTOR = Redactor(Detector(SHIPPED_RULES, {"MY_PASSWORD": VALUE}), {})


PARTS = [b"ordinary text ", f" {TOKEN} ".encode(), VALUE.encode(), b"\n", b"\x1b[1m", b"\r", b"\0", b"=" * 50]


def whole(chunks, source="log"):
    stream = REDACTOR.stream(source)
    out = b"".join(stream.feed(chunk).data for chunk in chunks)
    return out + stream.finish().data, stream.findings


def cut(data, places):
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), max_size=30),
    st.lists(st.integers(0, 10_000), max_size=12),
)  # fmt: skip
def test_however_a_stream_is_cut_the_result_is_the_same_and_holds_no_secret(parts, places):
    data = b"".join(parts)
    once, findings = whole([data])
    pieces, again = whole(cut(data, places))
    assert pieces == once
    assert [(f.rule, f.line) for f in again] == [(f.rule, f.line) for f in findings]
    assert TOKEN.encode() not in once
    assert VALUE.encode() not in once


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=3000), st.lists(st.integers(0, 10_000), max_size=6))
def test_bytes_without_a_secret_stay_unchanged(data, places):
    out, findings = whole(cut(data, places))
    if not findings:
        assert out == data


def test_a_long_line_is_read_in_windows_and_a_secret_at_any_border_is_found():
    for at in (0, 100, 250_000, 262_140, 262_144, 262_150, 300_000, 524_280):
        line = bytearray(b"a b" * 200_000)
        line[at : at + len(TOKEN)] = TOKEN.encode()
        line[max(0, at - 1) : at] = b" "[: min(1, at)]
        line[at + len(TOKEN) : at + len(TOKEN) + 1] = b" "
        out, findings = whole([bytes(line[i : i + 65_536]) for i in range(0, len(line), 65_536)])
        assert TOKEN.encode() not in out, at
        assert [f.rule for f in findings] == ["github-personal-token"], at
        out, findings = whole([bytes(line) + b"\n"])
        assert TOKEN.encode() not in out, at


def test_memory_does_not_grow_with_a_line_that_never_ends():
    stream = REDACTOR.stream("log")
    for _ in range(200):
        stream.feed(b"x" * 65_536)
    assert len(stream._held) <= 512 << 10


def test_a_finding_names_rule_source_line_and_fingerprint_and_not_the_value():
    _, findings = whole([f"one\ntwo {TOKEN}\n".encode()])
    (finding,) = findings
    assert (finding.rule, finding.source, finding.line) == ("github-personal-token", "log", 2)
    assert finding.fingerprint == fingerprint(TOKEN.encode())
    assert finding.action is RuleAction.STOP
    assert TOKEN not in finding.sentence()


def test_only_redaction_can_make_a_redacted_value():
    with pytest.raises(TypeError):
        Redacted(b"trust me", object())


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "OPENAI_API_KEY", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "SECRET", "apiKey", "MY_PASSWD",
     "TAVILY_MCP_URL", "DATABASE_URL", "SENTRY_DSN", "STRIPE_SECRET_KEY", "NPM_AUTH", "GH_PAT", "token",
     "AUTHORIZATION", "HTTP_AUTHORIZATION", "JWT", "BEARER", "CLIENT_SECRET_ID", "CREDS", "TOKEN2", "GITHUB_TOKEN_PROD",
     "PGPASSWORD", "SECRET_KEY_BASE", "SLACK_WEBHOOK_URL", "githubtoken"],
)  # fmt: skip
def test_names_that_look_secret(name):
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    ["PATH", "PWD", "OLDPWD", "HOME", "SSH_AUTH_SOCK", "KEYBOARD", "MONKEY", "TOKENIZERS_PARALLELISM", "COMPASS",
     "GITHUB_TOKEN_FILE", "SSL_CERT_FILE", "PASSENGERS", "AUTHOR", "XDG_SESSION_ID", "KEY_ID",
     "MAX_TOKENS", "MAX_THINKING_TOKENS", "TOKEN_LIMIT", "CACHE_KEY", "PUBLIC_KEY", "AWS_ACCESS_KEY_ID", "key"],
)  # fmt: skip
def test_names_that_do_not(name):
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [("/srv/data/keys/service-account.json", False), ("~/.config/app/credentials", False),
     ("100000000", False), ("2026-11-16", False), ("/xK9aQ2mPz8Lw4Rt7Vb", True), ("correct horse", True),
     ("12345678901234567890", True)],
)  # fmt: skip
def test_a_path_or_a_number_in_a_variable_with_a_secret_name_is_no_secret(value, is_secret):
    assert bool(secret_values({"APP_CREDENTIALS": value})) is is_secret
    assert secret_values({"APP_CREDENTIALS": value}, {"APP_CREDENTIALS"})
    assert secret_values({"APP_PASSWORD": value})


@pytest.mark.parametrize(
    "value",
    ["tr0ub4dor&3\r", '"tr0ub4dor&3"', " tr0ub4dor&3 ", "Bearer tr0ub4dor&3", "'tr0ub4dor&3'\r\n", "basic  tr0ub4dor&3",
     "tr0ub4dor&3\r\nshort", "tr0ub4dor&3\n12 more"],
)  # fmt: skip
def test_a_value_is_found_without_what_was_added_at_its_edges(value):
    redactor = build_redactor(SecretsSettings(), {"MY_PASSWORD": value})
    assert "tr0ub4dor" not in redactor.clean("login with tr0ub4dor&3 failed").text


@pytest.mark.parametrize(
    "spelled",
    ["it''s $5 \\ `now`", "it's \\$5 \\\\ \\`now\\`", "it\\'s $5 \\\\ `now`"],
    ids=["yaml", "bash between double quotes", "python"],
)
def test_a_value_is_known_in_the_quoting_of_the_language_that_prints_it(spelled):
    assert spelled.encode() in printed_forms("it's $5 \\ `now`")


def test_short_values_never_match():
    assert not any(len(form) < 8 for form in printed_forms("abcdefgh"))
    redactor = build_redactor(SecretsSettings(), {"MY_TOKEN": "short12"})
    assert redactor.clean("short12").text == "short12"


def test_a_value_of_several_lines_is_found_line_by_line():
    value = "first line of a long value\nsecond line of a long value\nend"
    redactor = build_redactor(SecretsSettings(), {"MY_SECRET": value})
    clean = redactor.clean(f"> {value}").text
    assert "first line" not in clean
    assert "second line" not in clean


def test_the_engine_without_re2_finds_the_same(monkeypatch):
    from loopwright.redaction import detector

    text = f"x {TOKEN} y key: sk-abcdefghij1234567890 z".encode()
    expected = Detector(SHIPPED_RULES, {"MY_TOKEN": VALUE}).hits(text)
    monkeypatch.setattr(detector, "re2", None)
    plain = Detector(SHIPPED_RULES, {"MY_TOKEN": VALUE})
    assert plain.hits(text) == expected
    assert plain.may_hit(VALUE.encode())
    assert not plain.may_hit(b"nothing here")


@pytest.mark.parametrize("before", ["\\n", "\\t", "%3D", "\\u0022", '\\"', "\\\\n"])
def test_an_escape_written_out_before_a_secret_does_not_hide_it(before):
    out, findings = whole([f'{{"text":"a{before}{TOKEN}"}}\n'.encode()])
    assert TOKEN.encode() not in out
    assert [f.rule for f in findings] == ["github-personal-token"]


@pytest.mark.parametrize(
    ("begin", "end"),
    [("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"),
     ("Private-Lines: 3", "Private-MAC: 00"), ("    Private-Lines: 3", "    Private-MAC: 00")],
)  # fmt: skip
def test_the_body_of_a_masked_key_block_is_hidden_and_later_text_is_not(begin, end):
    body = [expand("<base64:64>", n) for n in range(3)]
    out, findings = whole(["\n".join([begin, *body, end, "after"]).encode()])
    assert findings
    assert not any(line.encode() in out for line in body)
    assert out.endswith(b"after")


QUOTED_KEY = [expand("MIIEowIBAAKCAQEA<base64:48>"), expand("<base64:64>", 1), expand("<base64:10>==", 2)]


@pytest.mark.parametrize(
    ("before", "after"), [('"', '" +'), ("'", "',"), ("> ", ""), ('"', '\\n"'), ("+", "")],
    ids=["joined", "listed", "quoted", "line ends written", "diff"],
)  # fmt: skip
def test_a_key_in_quoted_lines_is_hidden_and_later_text_is_not(before, after):
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *QUOTED_KEY, "-----END RSA PRIVATE KEY-----"]
    text = "\n".join(f"{before}{line}{after}" for line in lines) + "\nlater text\n"
    out, findings = whole([text.encode()])
    assert findings
    assert not any(line[:12].encode() in out for line in QUOTED_KEY)
    assert out.endswith(b"\nlater text\n")


@pytest.mark.parametrize("lead", ["", "x", "xy"])
def test_a_key_in_base64_is_hidden_at_every_offset(lead):
    key = f"{lead}-----BEGIN RSA PRIVATE KEY-----\n{QUOTED_KEY[0]}\n"
    encoded = base64.encodebytes(key.encode() * 3).decode()
    out, findings = whole([f"KEY_B64=\n{encoded}later text\n".encode()])
    assert [finding.rule for finding in findings] == ["private-key-base64"]
    assert not any(line[-12:].encode() in out for line in encoded.splitlines() if len(line) >= 16)
    assert out.endswith(b"\nlater text\n")


MARKED = [
    "https://host.example/badge.svg?token=<alnum:10>",
    "https://deploy:<alnum:20>@git.example.com/repo.git",
    "TAVILY_API_KEY=<alnum:24>",
    "machine github.com login me password <alnum:40>",
    "Server=db;User Id=app;Password=<alnum:16>;Encrypt=True",
]


@pytest.mark.parametrize("template", MARKED)
def test_the_mark_in_place_of_a_value_is_not_taken_for_another_one(template):
    out, findings = whole([f"before {expand(template, 9)} after\n".encode()])
    assert len(findings) == 1
    assert out.startswith(b"before ")
    assert out.endswith(b" after\n")


SLASHES = expand("whsec_<base64:20>/<base64:20>+<base64:20>=", 3)


@pytest.mark.parametrize(
    "spelled",
    [SLASHES.replace("/", "%2F").replace("+", "%2b").replace("=", "%3D"), SLASHES.replace("/", "\\/"),
     SLASHES.replace("/", "\\u002f").replace("+", "\\u002B"), SLASHES.replace("/", "\\\\/")],
)  # fmt: skip
def test_a_value_is_found_and_hidden_whole_where_its_odd_characters_are_spelled_as_escapes(spelled):
    out, findings = whole([f"GET /hook?a=1&b={spelled}&c=2\n".encode()])
    assert [f.rule for f in findings] == ["stripe-webhook-secret"]
    parts = [part for mark in ("%2F", "%2b", "\\/", "\\u002f", "\\u002B") for part in spelled.split(mark)]
    assert not any(part[-12:].encode() in out for part in parts)
    assert out.endswith(b"&c=2\n")


def test_a_keyword_that_is_itself_spelled_as_an_escape_is_seen():
    token = expand("1//0g<base64url:98>", 2)
    out, findings = whole([f"GET /?r={token.replace('/', '%2F')} 401\n".encode()])
    assert [f.rule for f in findings] == ["google-oauth-refresh-token"]
    assert token[4:].encode() not in out


def test_a_value_that_a_pragma_exempts_in_one_spelling_is_exempt_in_it():
    line = SLASHES.replace("/", "%2F").encode() + b" pragma: allowlist-secret why=FIXTURE"
    assert REDACTOR.exempted_by_pragma(line)


@pytest.mark.parametrize("run", [b"\\" * 250_000, b"%" * 250_000, b"%2" * 120_000, b"token=" + b"\\/" * 100_000])
def test_a_long_run_of_escapes_takes_no_longer_than_other_text(run):
    # A pattern that tries every length of the run at every place would meet the time limit of the suite.
    out, _ = whole([b"token: ", run, b"\n"])
    assert out.startswith(b"token: ")


def test_a_learned_secret_is_hidden_at_once_in_all_shared_streams():
    learned, new = Learned(), "new-token-of-a-refreshed-login"
    one, other = (build_redactor(SecretsSettings(), {"MY_TOKEN": VALUE}, (), learned) for _ in range(2))
    stream = other.stream("log")
    assert stream.feed(f"before {new}".encode()).data == b"", "a line that has not ended yet"
    one.learn([new])
    shown = stream.feed(f" {VALUE}{new}\n".encode()).data
    assert new.encode() not in shown
    assert VALUE.encode() not in shown
    assert {finding.rule for finding in stream.findings} == {"environment-value"}
    assert new not in one.clean(f"{new} and {new.encode().hex()}").text
    off = build_redactor(SecretsSettings(rules={"environment-value": "off"}), {}, (), Learned())
    off.learn([new])
    assert off.clean(new).text == new


@pytest.mark.parametrize(
    "values",
    [
        ["".join(f"{number:x}-" for number in range(60_000))],
        ["".join(f"{number:x}." for number in range(at, at + 400)) for at in range(0, 102_400, 400)],
    ],
    ids=["long", "many"],
)
def test_values_that_no_automaton_can_hold_are_hidden_all_the_same(values):
    redactor = build_redactor(SecretsSettings(), {f"MY_{number}_TOKEN": value for number, value in enumerate(values)})
    shown = redactor.clean(f"a {values[-1]} b\nc {TOKEN}\n{VALUE}\n").text
    assert values[-1] not in shown
    assert TOKEN not in shown
    assert shown.endswith(f"]\n{VALUE}\n")


def test_of_very_many_that_are_learned_the_latest_are_hidden():
    redactor = build_redactor(SecretsSettings(), {})
    first, last = "first-token-of-a-login", "last-token-of-a-login"
    redactor.learn([first, *("".join(f"{number:x}-{more}" for more in range(1_400)) for number in range(5))])
    redactor.learn([last, *("".join(f"{number:x}-{more}" for more in range(1_400)) for number in range(5, 50))])
    assert redactor.clean(last).text != last
    assert redactor.clean(first).text == first


def test_what_could_not_be_learned_is_tried_again(monkeypatch):
    learned, new = Learned(), "new-token-of-a-refreshed-login"
    with monkeypatch.context() as patched:
        patched.setattr("loopwright.redaction.redactor.Detector", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            learned.add([new])
    learned.add([new])
    assert new not in build_redactor(SecretsSettings(), {}, (), learned).clean(new).text


MARK = f"[REDACTED:github-personal-token:{fingerprint(TOKEN.encode())}]".encode()
OTHER = expand("ghp_<alnum:36>", 6)
OTHER_MARK = f"[REDACTED:github-personal-token:{fingerprint(OTHER.encode())}]".encode()
VALUE_MARK = f"[REDACTED:environment-value:{fingerprint(VALUE.encode())}]".encode()


def test_a_fingerprint_stays_the_same_in_every_version():
    # Users keep fingerprints in their settings.
    assert fingerprint(b"value") == "604e993d4169"


def test_complete_lines_come_out_at_once_and_each_secret_becomes_a_mark():
    stream = REDACTOR.stream("log")
    assert stream.feed(b"one\ntwo\nthr").data == b"one\ntwo\n"
    assert stream.feed(f"ee {TOKEN} and {OTHER} end\n{VALUE}".encode()).data == (
        b"three " + MARK + b" and " + OTHER_MARK + b" end\n"
    )
    assert stream.finish().data == VALUE_MARK
    assert [(finding.line, finding.source) for finding in stream.findings] == [(3, "log"), (3, "log"), (4, "log")]


def numbered(length):
    return b"".join(b"%d a b " % number for number in range(length // 6))[:length]


@pytest.mark.parametrize(
    ("line", "clean"),
    [
        (numbered(600_000), numbered(600_000)),
        # The keyword of a rule, so that the line is searched, and no secret.
        (b"ghp_ " + numbered(600_000), b"ghp_ " + numbered(600_000)),
        (
            TOKEN.encode() + b" " + numbered(262_080) + b" " + OTHER.encode() + b" " + numbered(300_000),
            MARK + b" " + numbered(262_080) + b" " + OTHER_MARK + b" " + numbered(300_000),
        ),
    ],
    ids=["plain", "keyword", "a secret before and one across the window's end"],
)
def test_a_line_longer_than_the_window_keeps_every_other_byte(line, clean):
    assert whole([line + b"\n"])[0] == clean + b"\n"
    assert whole([b"first\n" + line[:300_000], line[300_000:]])[0] == b"first\n" + clean


def test_a_key_block_is_hidden_when_it_arrives_in_pieces():
    body = [expand("<base64:64>", n) for n in range(3)]
    stream = REDACTOR.stream("log")
    shown = [
        stream.feed(f"{line}\n".encode()).data
        for line in ("-----BEGIN OPENSSH PRIVATE KEY-----", *body, "-----END OPENSSH PRIVATE KEY-----", "after")
    ]
    assert shown[0].startswith(b"[REDACTED:")
    assert shown[1:] == [b"[REDACTED]\n"] * 4 + [b"after\n"]


def test_a_key_block_without_an_end_hides_400_lines():
    out, _ = whole([b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + b"line\n" * 402])
    assert out.splitlines()[1:] == [b"[REDACTED]"] * 400 + [b"line"] * 2


PRAGMA = " pragma: allowlist-secret why=FIXTURE"


@pytest.mark.parametrize(
    ("line", "trusts_pragma", "clean"),
    [
        (TOKEN + PRAGMA, True, TOKEN + PRAGMA),
        (TOKEN + PRAGMA, False, MARK.decode() + PRAGMA),
        (TOKEN, True, MARK.decode()),
        (VALUE + PRAGMA, True, VALUE_MARK.decode() + PRAGMA),
    ],
    ids=["trusted", "not trusted", "no pragma", "a value of the environment"],
)
def test_a_pragma_counts_only_where_it_is_trusted_and_never_for_the_environment(line, trusts_pragma, clean):
    assert REDACTOR.scan(line.encode(), "file", trusts_pragma=trusts_pragma).clean.text == clean
    if not trusts_pragma:
        assert REDACTOR.clean(line).text == clean
        assert whole([line.encode()])[0].decode() == clean


def test_each_line_with_a_pragma_exempts_its_formats():
    data = f"{TOKEN}{PRAGMA}\n{OTHER}{PRAGMA}\n{VALUE}{PRAGMA}\n".encode()
    assert REDACTOR.exempted_by_pragma(data) == {fingerprint(TOKEN.encode()), fingerprint(OTHER.encode())}


def test_an_exempt_value_is_left_alone():
    redactor = Redactor(Detector(SHIPPED_RULES, {}), {})
    redactor.allow([fingerprint(TOKEN.encode())])
    assert redactor.clean(f"{TOKEN} {OTHER}").data == TOKEN.encode() + b" " + OTHER_MARK


def test_exemptions_that_are_found_late_are_asked_for_once_and_only_for_a_hit():
    calls = []
    redactor = Redactor(Detector(SHIPPED_RULES, {}), {})
    redactor.exempt_later(lambda: calls.append(1) or [fingerprint(TOKEN.encode())])
    assert redactor.clean("ghp_").text == "ghp_"
    assert not calls
    assert (
        redactor.clean(f"{TOKEN} {OTHER}\n{OTHER}\n").data
        == TOKEN.encode() + b" " + OTHER_MARK + b"\n" + OTHER_MARK + b"\n"
    )
    assert calls == [1]


def test_a_text_with_bytes_that_are_no_utf_8_is_redacted():
    assert REDACTOR.clean(f"\udcff {TOKEN}").data == b"\xff " + MARK


def test_only_the_first_findings_are_kept_and_every_secret_is_hidden(monkeypatch):
    monkeypatch.setattr(redactor_module, "_MOST_FINDINGS", 2)
    out, findings = whole([f"{TOKEN}\n".encode() * 4])
    assert out == (MARK + b"\n") * 4
    assert len(findings) == 2


def test_a_line_that_still_shows_a_secret_after_all_readings_is_hidden_whole(monkeypatch):
    monkeypatch.setattr(redactor_module, "_MOST_READINGS", 1)
    assert whole([f"a {TOKEN}\n".encode()])[0] == b"[REDACTED]\n"


@pytest.mark.parametrize(("over", "kept"), [(0, 1), (1, 0)])
def test_learned_values_fill_the_limit_to_the_last_character(over, kept):
    assert len(redactor_module._latest(["a" * (redactor_module._MOST_LEARNED + over)])) == kept


@pytest.mark.parametrize(
    ("hits", "merged"),
    [
        ([(0, 5), (10, 15)], [(0, 5), (10, 15)]),
        ([(0, 5), (5, 10)], [(0, 5), (5, 10)]),
        ([(0, 5), (4, 10)], [(0, 10)]),
        ([(0, 2), (4, 12), (6, 8)], [(0, 2), (4, 12)]),
        ([(0, 2), (4, 8), (6, 12)], [(0, 2), (4, 12)]),
    ],
    ids=["apart", "side by side", "overlapping", "one inside another", "the last two overlap"],
)
def test_hits_that_overlap_become_one(hits, merged):
    text = b" " * 20
    found = redactor_module._whole_values(text, [SecretHit("r", start, end, b"v") for start, end in hits])
    assert [(hit.start, hit.end) for hit in found] == merged


def test_a_value_that_a_standard_publishes_counts_only_if_it_is_the_callers_own():
    published = base64.b64encode(b"s6BhdRkqt3:gX1fBat3bV").decode()
    text = f"Authorization: Basic {published}\n".encode()
    assert Redactor(Detector(SHIPPED_RULES, {}), {}).scan(text, "log", trusts_pragma=False).findings == ()
    own = Redactor(Detector(SHIPPED_RULES, {"CLIENT_SECRET": published}), {}).scan(text, "log", trusts_pragma=False)
    assert published.encode() not in own.clean.data
