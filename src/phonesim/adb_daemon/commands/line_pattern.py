"""The patterns of `grep` that this phone supports, matched in time linear in the line.

Literal text, `.`, classes like `[a-z]`, `^`, `$`, `.*` and, with -E, alternatives. Other
repetitions are refused, so that no pattern can make the phone search for hours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from phonesim.adb_daemon.result import Refusal

MAX_PATTERN = 400  # characters
ATOM = re.compile(r"\\[.*^$\[\]\\|/(){}+?\-\"' ]|\[\^?[A-Za-z0-9_ :.,/=-]+\]|[^\\\[\]*]")
EXTENDED = frozenset("(){}+?|")


@dataclass(frozen=True, slots=True)
class Alternative:
    """Pieces that must match in this order, with anything between them."""

    pieces: tuple[re.Pattern[str], ...]
    from_start: bool
    to_end: bool

    def matches(self, line: str) -> bool:
        place = 0
        for number, piece in enumerate(self.pieces):
            at_start = self.from_start and number == 0
            last = number == len(self.pieces) - 1
            if last and self.to_end:
                return self._ends(line, piece, place, at_start)
            found = piece.match(line, place) if at_start else piece.search(line, place)
            if found is None:
                return False
            place = found.end()
        return True

    def _ends(self, line: str, piece: re.Pattern[str], place: int, at_start: bool) -> bool:
        starts = [place] if at_start else range(place, len(line) + 1)
        return any(piece.fullmatch(line, start) for start in starts)


class LinePattern:
    """One pattern; `matches` returns whether a line contains it."""

    def __init__(self, pattern: str, *, fixed: bool, extended: bool, any_case: bool) -> None:
        if len(pattern) > MAX_PATTERN:
            raise Refusal("grep: pattern too long", 2)
        self._flags = re.IGNORECASE if any_case else re.NOFLAG
        self._extended = extended
        if fixed:
            piece = re.compile(re.escape(pattern), self._flags)
            self._alternatives = [Alternative((piece,), False, False)]
        else:
            bars = re.split(r"(?<!\\)\|" if extended else r"\\\|", pattern)
            self._alternatives = [self._read(bar) for bar in bars]

    def matches(self, line: str) -> bool:
        return any(alternative.matches(line) for alternative in self._alternatives)

    def _read(self, text: str) -> Alternative:
        from_start = text.startswith("^")
        to_end = text.endswith("$") and not text.endswith("\\$")
        bare = text[1 if from_start else 0 : len(text) - 1 if to_end else len(text)]
        pieces = tuple(self._piece(part) for part in re.split(r"(?<!\\)\.\*", bare))
        return Alternative(pieces, from_start, to_end)

    def _piece(self, text: str) -> re.Pattern[str]:
        """Compile atoms that match one character each, so that a piece has a fixed length."""
        place, source = 0, []
        while place < len(text):
            atom = ATOM.match(text, place)
            if atom is None or (self._extended and atom[0] in EXTENDED):
                raise Refusal(f"grep: {text[place : place + 20]!r}: no such pattern here", 2)
            literal = len(atom[0]) == 1 and atom[0] != "."
            source.append(re.escape(atom[0]) if literal else atom[0])
            place = atom.end()
        try:
            return re.compile("".join(source), self._flags)
        except re.error as error:
            raise Refusal(f"grep: bad pattern: {error}", 2) from error
