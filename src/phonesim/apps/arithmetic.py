"""Exact arithmetic on a calculator's input: + − × ÷ % and brackets.

    expression := term (("+" | "−") term)*
    term       := factor (("×" | "÷") factor)*
    factor     := "−" factor | atom "%"*
    atom       := number | "(" expression ")"

Adjacent atoms are multiplied: 2(3+4) is 14.
"""

from __future__ import annotations

from fractions import Fraction

OPERATORS = ("+", "−", "×", "÷")
PLACES = 10  # decimals shown
DEEPEST = 40  # depth of nested brackets


class NotAnExpression(ValueError):
    """The input is not (or not yet) an expression."""


def evaluate(text: str) -> Fraction:
    """Return the exact value. Raise NotAnExpression, or ZeroDivisionError."""
    reader = _Reader(text)
    value = reader.expression(0)
    if not reader.at_end:
        raise NotAnExpression(f"{text!r} goes on after a complete expression")
    return value


def shown(value: Fraction) -> str:
    """Format a value for the display: rounded to ten decimals, without trailing zeros."""
    scaled = round(abs(value) * 10**PLACES)
    whole, decimals = divmod(scaled, 10**PLACES)
    text = f"{whole}.{decimals:0{PLACES}d}".rstrip("0").rstrip(".")
    return f"−{text}" if value < 0 and text != "0" else text


class _Reader:
    """A recursive-descent parser that reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._text)

    @property
    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, *wanted: str) -> str:
        """Consume and return the next character if it is one of `wanted`, else ""."""
        found = self._next if self._next in wanted else ""
        self._at += len(found)
        return found

    def expression(self, depth: int) -> Fraction:
        if depth > DEEPEST:
            raise NotAnExpression("too many brackets within brackets")
        value = self._term(depth)
        while sign := self._take("+", "−"):
            term = self._term(depth)
            value = value + term if sign == "+" else value - term
        return value

    def _term(self, depth: int) -> Fraction:
        value = self._factor(depth)
        while True:
            if self._take("×"):
                value *= self._factor(depth)
            elif self._take("÷"):
                value /= self._factor(depth)
            elif self._next == "(" or self._next.isdecimal():
                value *= self._factor(depth)
            else:
                return value

    def _factor(self, depth: int) -> Fraction:
        negative = False
        while self._take("−"):
            negative = not negative
        value = self._atom(depth)
        while self._take("%"):
            value /= 100
        return -value if negative else value

    def _atom(self, depth: int) -> Fraction:
        if self._take("("):
            value = self.expression(depth + 1)
            if not self._take(")"):
                raise NotAnExpression("a bracket is still open")
            return value
        start = self._at
        while self._next.isdecimal() or self._next == ".":
            self._at += 1
        number = self._text[start : self._at]
        if not number.strip(".") or number.count(".") > 1:
            raise NotAnExpression(f"no number at place {start} of {self._text!r}")
        return Fraction(number)
