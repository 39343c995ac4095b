"""Which tokens may come next in an answer of the compact dialect, so that it can be read.

    <tap>, <hold>              a place, the end
    <swipe>                    a place, a place, a duration or the end, the end
    <type>, <open>, <answer>   characters and bytes, the end
    <wait>                     digits, the end
    all others                 the end

The first word and the number of tokens so far decide what may follow, so one lookup table holds the
whole grammar. Forbidden tokens get almost no probability, both in sampling and in scoring: training
never has to learn the grammar from rewards and cannot unlearn it (docs/log.md). `FORBIDDEN` is
finite, so that an answer from elsewhere that breaks a rule has an importance ratio of 0 and a
gradient of 0 rather than NaN.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from functools import cache

import torch
from torch import Tensor

from distrl.agent.dialects.compact import KINDS, MAX_TENTHS
from distrl.agent.starter.vocabulary import CHARACTERS, END, places, tokens

FORBIDDEN = -1e4  # the logit of tokens that may not come next
LONGEST = 5  # lengths in the table, up to a swipe with a duration; longer answers use the last
_TEXT = (*CHARACTERS, *(f"<0x{byte:02X}>" for byte in range(256)), END)
_DURATIONS = tuple(f"<{tenths}>" for tenths in range(1, MAX_TENTHS + 1))


@cache
def next_tokens(device: torch.device) -> Tensor:  # [1 + kinds, LONGEST, vocabulary], bool
    """Return a table of allowed tokens, by the first word's row and the answer's length so far."""
    numbers = {token: number for number, token in enumerate(tokens())}
    table = torch.ones((1 + len(KINDS), LONGEST, len(numbers)), dtype=torch.bool)

    def allow(row: int, length: int, allowed: Iterable[str]) -> None:
        table[row, length] = False
        table[row, length, [numbers[token] for token in allowed]] = True

    for row, kind in enumerate(("", *KINDS)):
        allow(row, 0, (f"<{each}>" for each in KINDS))
        for length, allowed in enumerate(_after(kind), start=1):
            allow(row, length, allowed)
    return table.to(device)


def _after(kind: str) -> tuple[tuple[str, ...], ...]:
    """Return the tokens allowed after a first word, position by position; beyond those, any."""
    match kind:
        case "":
            return ()
        case "tap" | "hold":
            return places(), (END,)
        case "swipe":
            return places(), places(), (*_DURATIONS, END), (END,)
        case "type" | "open" | "answer":
            return (_TEXT,) * (LONGEST - 1)
        case "wait":
            more = (*string.digits, ".", END)
            return ((*string.digits, END), *((more,) * (LONGEST - 2)))
        case _:
            return ((END,),)


def first_word_rows(first: Tensor) -> Tensor:
    """Return the table rows of answers that begin with these tokens; 0 if not a dialect word."""
    row = first - tokens().index(f"<{KINDS[0]}>") + 1
    return torch.where((row >= 1) & (row <= len(KINDS)), row, 0)


def held_to_grammar(logits: Tensor, rows: Tensor, lengths: Tensor) -> Tensor:
    """Mask `logits` [n, length, vocabulary] of answers with these first-word `rows` [n] and
    `lengths` [length]. A length counts the answer's own tokens, without the start token.
    """
    table = next_tokens(logits.device)
    allowed = table[rows.unsqueeze(1), lengths.clamp(max=LONGEST - 1).unsqueeze(0)]
    return logits.masked_fill(~allowed, FORBIDDEN)
