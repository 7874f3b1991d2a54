"""The words of a path, the same on every platform and in every locale.

A word ends at a separator, a digit, or the next capital in camelCase. Case is recognized for Latin letters and folded
only for ASCII: `İ`, `ß` and the Kelvin sign stay unchanged. Uses only built-ins, because the hook imports this.
"""

from __future__ import annotations

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWERED = {ord(letter): letter.lower() for letter in _UPPER}
_LETTERS = _UPPER + _UPPER.lower()
_DIGITS = "0123456789"
_NO_LETTER = {code: " " for code in range(128) if chr(code) not in _LETTERS}
_NO_NAME = {code: " " for code in _NO_LETTER if chr(code) not in _DIGITS}


def fold(text: str) -> str:
    """The text with ASCII letters in lower case; other characters stay unchanged."""
    return text.lower() if text.isascii() else text.translate(_LOWERED)


def shown(path: str) -> str:
    """A path as text for JSON and a terminal: invalid UTF-8 and unprintable characters are escaped."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = path.encode("utf-8", "surrogatepass")
    text = raw.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def parts_of(path: str) -> list[str]:
    """The parts of a path, with either separator."""
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]


def words_of(part: str) -> tuple[str, ...]:
    """The words of one part in order, folded: `OAuth2Token.java` gives o, auth, token, java."""
    if part.isascii():
        folded = part.lower()
        if folded == part:
            return tuple(folded.translate(_NO_LETTER).split())
    return tuple(_camel_words(part))


def numbered_of(part: str) -> tuple[str, ...]:
    """Names that contain digits: `k8s` in `K8sConfig.java`."""
    if part != fold(part):
        pairs = zip(" " + part, part, strict=False)
        part = "".join(f" {now}" if _kind(now) == "U" and _kind(before) != "U" else now for before, now in pairs)
    runs = fold(part).translate(_NO_NAME).split()
    return tuple(run for run in runs if not run.isalpha() and not run.isdigit())


def _camel_words(part: str) -> list[str]:
    kinds = [_kind(character) for character in part] + [" "]
    words: list[str] = []
    start = -1
    for position, kind in enumerate(kinds):
        if start >= 0 and (kind == " " or (kind == "U" and _begins_a_word(kinds, part, position))):
            words.append(fold(part[start:position]))
            start = -1
        if start < 0 and kind != " ":
            start = position
    return words


def _begins_a_word(kinds: list[str], part: str, position: int) -> bool:
    """Whether a capital starts a word: after or before a small letter, except before the s in `JWTs`."""
    if kinds[position - 1] == "l":
        return True
    plural = kinds[position + 1] == "l" and part[position + 1] == "s" and kinds[position + 2] != "l"
    return kinds[position + 1] == "l" and not plural


def _kind(character: str) -> str:
    """U(pper), l(ower), or a space for a border."""
    if "a" <= character <= "z":
        return "l"
    if "A" <= character <= "Z":
        return "U"
    latin = "\u00c0" <= character <= "\u024f" and character not in "\u00d7\u00f7"
    if latin or "\u0300" <= character <= "\u036f":  # combining accents, as macOS writes them
        return "U" if character.isupper() else "l"
    return " "
