"""Prompts are split into words by tensors just as they would be by hand."""

from __future__ import annotations

from typing import NamedTuple

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.starter.tiny_starter import SIZES, padded, tiny_starter, tokens_of

from distrl.agent.dialects.compact import KINDS
from distrl.agent.starter.text_reader import EDGES, ReadText, TextReader
from distrl.agent.starter.vocabulary import CHARACTERS, tokens

LETTERS, WORDS = SIZES["letters"], SIZES["max_words"]
CONFIG = tiny_starter().config
READER = TextReader(CONFIG)


class Word(NamedTuple):
    """What is known of a word; `token` is that of a word that is one token, else empty."""

    letters: str
    token: str = ""
    before: str = ""
    after: str = ""


def read(*texts: str) -> ReadText:
    found: ReadText = READER(padded(texts))
    return found


def words_in(found: ReadText, row: int = 0) -> list[Word]:
    """What the reader says, in letters."""
    names = ["", *CONFIG.signs]

    def token(number: int) -> str:
        return tokens()[number] if number else ""

    return [
        Word(
            "".join(names[sign] for sign in found.signs[row, place].tolist()),
            token(int(found.tokens[row, place])),
            token(int(found.before[row, place])),
            token(int(found.after[row, place])),
        )
        for place in range(WORDS)
        if found.mask[row, place]
    ]


def words_by_hand(text: str) -> list[Word]:
    """The same thing, one token after the other, as the module's docstring has it."""
    said = [tokens()[number] for number in tokens_of(text)]
    spans: list[tuple[int, int]] = []
    begun: int | None = None
    for place, token in enumerate([*said, " "]):
        letter = len(token) == 1 and token in CHARACTERS and not token.isspace()
        if letter:
            begun = place if begun is None else begun
            continue
        if begun is not None:
            spans += stripped(said, begun, place)
            begun = None
        if not token.isspace():
            spans.append((place, place + 1))  # a word by itself
    found = []
    for first, end in spans[:WORDS]:
        alone = end - first == 1 and len(said[first]) > 1
        found.append(
            Word(
                "" if alone else "".join(said[first:end])[:LETTERS],
                said[first] if alone else "",
                said[first - 1] if first else "",
                said[end] if end < len(said) else "",
            )
        )
    return found


def stripped(said: list[str], first: int, end: int) -> list[tuple[int, int]]:
    """Without up to three edges on either side; nothing may be left."""
    left = right = 0
    while left < min(3, end - first) and said[first + left] in EDGES:
        left += 1
    while right < min(3, end - first) and said[end - 1 - right] in EDGES:
        right += 1
    return [(first + left, end - right)] if first + left < end - right else []


def test_quotes_and_commas_are_beside_words_not_in_them() -> None:
    found = words_in(read('Call “Ann-Lee”, at: "5.30"!'))
    assert [word.letters for word in found] == ["Call", "Ann-Le", "at", "5.30"]  # six letters fit
    assert found[1][2:] == ("“", "”")
    assert found[2][2:] == (" ", ":")
    assert found[3][2:] == ('"', '"')
    assert found[0].before == ""
    assert words_in(read("so"))[0] == Word("so")


def test_prices_mails_and_apostrophes_stay_whole() -> None:
    found = [word.letters for word in words_in(read("pay $12.5, a@b.io (it's 3:45)."))]
    assert found == ["pay", "$12.5", "a@b.io", "it's", "3:45"]


def test_past_actions_are_words_by_themselves() -> None:
    found = words_in(read("Go. <tap><12,34> <type>ab c"))
    assert [(word.letters, word.token) for word in found] == [
        ("Go", ""),
        ("", "<tap>"),
        ("", "<12,34>"),
        ("", "<type>"),
        ("ab", ""),
        ("c", ""),
    ]
    assert found[2][2:] == ("<tap>", " ")


def test_odd_characters_are_words_too() -> None:
    """Each of the bytes of what is not among our characters."""
    assert [word.token for word in words_in(read("ж x"))] == ["<0xD0>", "<0xB6>", ""]


def test_words_that_do_not_fit_are_left_out() -> None:
    many = " ".join(f"w{number}" for number in range(WORDS + 5))
    found = read(many, "one")
    assert [word.letters for word in words_in(found)] == [f"w{number}" for number in range(WORDS)]
    assert words_in(found, 1) == [Word("one")]
    assert words_in(read("")) == []


pieces = st.one_of(
    st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=9),
    st.text(st.sampled_from(EDGES + " \nab"), min_size=1, max_size=9),
    st.sampled_from([f"<{kind}>" for kind in KINDS] + ["<0,0>", "<35,71>", "<7>", "é", "ж", "🙂"]),
)
sentences = st.lists(pieces, max_size=12).map("".join)


@settings(max_examples=4 * settings().max_examples)
@given(st.lists(sentences, min_size=1, max_size=4))
def test_any_prompts_are_read_as_by_hand(texts: list[str]) -> None:
    ids = padded([*texts, "and a longer one beside them so that all the others are padded"])
    found: ReadText = READER(ids)
    for row, text in enumerate(texts):
        assert words_in(found, row) == words_by_hand(text), text
        count = int(found.mask[row].sum())
        for each in (found.signs, found.tokens, found.before, found.after):
            assert not each[row, count:].any()  # nothing where there is no word


def test_it_has_tables_and_no_weights() -> None:
    assert not list(READER.parameters())
    assert torch.equal(READER.sign_of, tiny_starter().state_dict()["encoder.text_reader.sign_of"])
