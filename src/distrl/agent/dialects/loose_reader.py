"""A tolerant parser of values and call arguments as models write them: nearly JSON or Python.

Valid JSON is read as JSON. It also accepts single and Chinese quotes, unescaped quotes inside a
string, raw line breaks, names without quotes, Python's `None` and tuples, trailing, missing or
full-width commas, and missing closing brackets at the end. It rejects input that ends in the middle
of a string, a list, a number or a word: the truncated part may mean something else than the whole.
Every failure is an `InvalidAction` with the reason; the running time is linear in the length of the
text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from distrl.errors import InvalidAction

DEEPEST = 8  # maximum nesting of brackets; an action needs three levels

CLOSING_QUOTES = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "’": "’", "「": "」"}
_NAME_IN_QUOTES = r"(?:\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[“”‘’「][^“”‘’」\n]*[”’」])"
_CUT = r"\Z|</|<\||```"  # end of the action: end of text, a closing or special token, a fence
_COMMA = "[,，、]"

# A quote ends its string only if one of these follows; otherwise it is part of the string.
_AFTER_NAME = re.compile(r"\s*[:：]")
_AFTER_MEMBER = re.compile(
    rf"\s*(?:[}}\]]|{_CUT}|{_COMMA}\s*(?:[}}\]]|\Z|\w+\s*[:：])"
    rf"|(?:{_COMMA}\s*)?{_NAME_IN_QUOTES}\s*[:：])"
)
_AFTER_ITEM = re.compile(rf"\s*(?:{_COMMA}|[\])）}}]|{_CUT})")
_AFTER_ARGUMENT = re.compile(rf"\s*(?:[)）]|{_CUT}|{_COMMA}\s*(?:[)）]|\w+\s*=))")

_SPACE = re.compile(r"[\s\ufeff]*")
_CUT_OFF = re.compile(rf"\s*(?:{_CUT})")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d]\w*")
_NAME = re.compile(r"([^\W\d]\w*)\s*[:：=]")
_TAGGED = re.compile(r"<\|?\w+\|?>[^<>]*<[|/][^<>]*>")  # <point>12 40</point>, without quotes
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"} | {s: s for s in "\"'\\/"}
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True, slots=True, repr=False)
class Number:
    """A number that keeps its digits as written: text to be typed may be a telephone number."""

    digits: str

    @property
    def value(self) -> float:
        return float(self.digits)

    def __repr__(self) -> str:
        return self.digits


Value: TypeAlias = "str | Number | bool | list[Value] | dict[str, Value] | None"


class LooseReader:
    """A parser of one value, or the arguments of one call, from position `at` of a text."""

    def __init__(self, text: str, at: int = 0) -> None:
        self._text = text
        self._at = at

    def arguments(self) -> dict[str, Value]:
        """Parse the arguments of a call, from after its opening bracket; those without a name get
        the names "0", "1" and so on.
        """
        found: dict[str, Value] = {}
        while not self._eat(")）") and not _CUT_OFF.match(self._text, self._at):
            name = _NAME.match(self._text, self._at)
            self._at = name.end() if name else self._at
            key = name.group(1) if name else str(len(found))
            found[key] = self.value(_AFTER_ARGUMENT)
            self._eat(",，、;")
        return found

    def value(self, after: re.Pattern[str] = _AFTER_ITEM, depth: int = 0) -> Value:
        """Parse the value that begins here; a quote ends a string only where `after` follows."""
        if depth > DEEPEST:
            raise InvalidAction(f"brackets are nested more than {DEEPEST} deep")
        if self._eat("{"):
            return self.members(depth)
        if self._eat("[(（"):
            return self._items(depth)
        if self._text[self._at : self._at + 1] in CLOSING_QUOTES:
            return self._quoted(after)
        if tagged := _TAGGED.match(self._text, self._at):
            self._at = tagged.end()
            return tagged.group()
        return self._bare()

    def members(self, depth: int = 0) -> dict[str, Value]:
        """Parse the members of an object, up to its closing bracket, which may be missing."""
        found: dict[str, Value] = {}
        while not self._eat("}") and not _CUT_OFF.match(self._text, self._at):
            name = self._member_name()
            if not self._eat(":：="):
                raise InvalidAction(f"no colon after {name[:40]!r}")
            found[name] = self.value(_AFTER_MEMBER, depth + 1)
            if not self._eat(",，、") and not self._ends_members():
                raise self._misplaced("a comma")
        return found

    def _ends_members(self) -> bool:
        """Return whether the object ends here, or continues with a quoted name without a comma."""
        follows = self._text[self._at : self._at + 1]
        at_end = follows in ("}", "]", "") or _CUT_OFF.match(self._text, self._at) is not None
        if follows == "]":  # the wrong closing bracket is accepted
            self._at += 1
        return at_end or follows in CLOSING_QUOTES

    def _member_name(self) -> str:
        if self._text[self._at : self._at + 1] in CLOSING_QUOTES:
            return self._quoted(_AFTER_NAME)
        word = _WORD.match(self._text, self._at)
        if not word:
            raise self._misplaced("a name")
        self._at = word.end()
        return word.group()

    def _items(self, depth: int) -> list[Value]:
        found: list[Value] = []
        while not self._eat("])）"):
            if _CUT_OFF.match(self._text, self._at):
                raise InvalidAction("it ends in the middle of a list")
            if self._text[self._at] == "}":  # the wrong closing bracket is accepted
                break
            found.append(self.value(_AFTER_ITEM, depth + 1))
            self._eat(",，、;")
        return found

    def _quoted(self, after: re.Pattern[str]) -> str:
        opening = self._text[self._at]
        closing = CLOSING_QUOTES[opening]
        for sign in re.compile(rf"\\.|{closing}", re.DOTALL).finditer(self._text, self._at + 1):
            if sign.group() == closing and after.match(self._text, sign.end()):
                raw = self._text[self._at + 1 : sign.start()]
                self._at = sign.end()
                return unescaped(raw)
        raise InvalidAction("it ends in the middle of a text in quotes")

    def _bare(self) -> Value:
        found = _NUMBER.match(self._text, self._at) or _WORD.match(self._text, self._at)
        if not found:
            raise self._misplaced("a value")
        if found.end() == len(self._text):
            raise InvalidAction(f"it ends in the middle of {found.group()[:40]!r}")
        self._at = found.end()
        if found.re is _NUMBER:
            return Number(found.group())
        return _CONSTANTS.get(found.group().lower(), found.group())

    def _eat(self, signs: str) -> bool:
        """Skip white space, then one of these characters; return whether one was there."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        if self._text[self._at : self._at + 1] not in tuple(signs):
            return False
        self._at += 1
        return True

    def _misplaced(self, belongs: str) -> InvalidAction:
        here = self._text[self._at : self._at + 20]
        found = f"{here!r} stands" if here else "it ends"
        return InvalidAction(f"{found} where {belongs} belongs")


def unescaped(raw: str) -> str:
    """Resolve escapes of JSON and Python; a backslash before anything else stays."""

    def sign(match: re.Match[str]) -> str:
        code = match.group(1)
        if len(code) > 1:
            return chr(int(code[1:], 16))
        return _ESCAPED.get(code, match.group())

    if "\\" not in raw:
        return raw
    return _SURROGATES.sub(_joined, _ESCAPE.sub(sign, raw))


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16", "surrogatepass").decode("utf-16")
