"""The words of a path, the same on every platform and in every locale.

A word ends at a separator, a digit, and where camelCase begins the next. Case is told apart for Latin letters and
folded for ASCII, on purpose: `İ`, `ß` and the Kelvin sign stay what they are. Built-ins only: the hook imports it.
"""

from __future__ import annotations

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWERED = {ord(letter): letter.lower() for letter in _UPPER}
_LETTERS = _UPPER + _UPPER.lower()
_DIGITS = "0123456789"
_NO_LETTER = {code: " " for code in range(128) if chr(code) not in _LETTERS}
_NO_NAME = {code: " " for code in _NO_LETTER if chr(code) not in _DIGITS}


def fold(text: str) -> str:
    """ASCII letters in lower case, and nothing else touched."""
    return text.lower() if text.isascii() else text.translate(_LOWERED)


def shown(path: str) -> str:
    """A path as text that JSON and a terminal can hold: what is no UTF-8 or can't be printed is escaped."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = path.encode("utf-8", "surrogatepass")
    text = raw.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def parts_of(path: str) -> list[str]:
    """The parts of a path, whichever separator its platform has."""
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]


def words_of(part: str) -> tuple[str, ...]:
    """The words of one part in their order, folded: `OAuth2Token.java` is o, auth, token, java."""
    if part.isascii():
        folded = part.lower()
        if folded == part:
            return tuple(folded.translate(_NO_LETTER).split())
    return tuple(_camel_words(part))


def numbered_of(part: str) -> tuple[str, ...]:
    """Names with digits inside, whole: `k8s` of `K8sConfig.java`."""
    if part != fold(part):
        pairs = zip(" " + part, part, strict=False)
        part = "".join(f" {now}" if _kind(now) == "U" and _kind(before) != "U" else now for before, now in pairs)
    runs = fold(part).translate(_NO_NAME).split()
    return tuple(run for run in runs if not run.isalpha() and not run.isdigit())


def _camel_words(part: str) -> list[str]:
    kinds = [_kind(character) for character in part] + [" "]
    words: list[str] = []
    begin = -1
    for at, kind in enumerate(kinds):
        if begin >= 0 and (kind == " " or (kind == "U" and _begins_a_word(kinds, part, at))):
            words.append(fold(part[begin:at]))
            begin = -1
        if begin < 0 and kind != " ":
            begin = at
    return words


def _begins_a_word(kinds: list[str], part: str, at: int) -> bool:
    """Whether a capital opens a word: after a small letter, or before one, but for the s in `JWTs`."""
    if kinds[at - 1] == "l":
        return True
    plural = kinds[at + 1] == "l" and part[at + 1] == "s" and kinds[at + 2] != "l"
    return kinds[at + 1] == "l" and not plural


def _kind(character: str) -> str:
    """U(pper), l(ower), or a border."""
    if "a" <= character <= "z":
        return "l"
    if "A" <= character <= "Z":
        return "U"
    latin = "\u00c0" <= character <= "\u024f" and character not in "\u00d7\u00f7"
    if latin or "\u0300" <= character <= "\u036f":  # the latter: accents as macOS writes them
        return "U" if character.isupper() else "l"
    return " "
