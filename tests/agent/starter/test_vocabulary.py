"""Whatever is said can be written down in tokens and read back, to the letter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.dialects.made_up_actions import made_up

from distrl.agent.dialects.compact import COLUMNS, COMPACT, KINDS, ROWS
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.starter.vocabulary import CHARACTERS, CONTROLS, places, signs, tokens
from distrl.imitation.sample_arrays import new_inputs
from phonesim.drawing.fonts import face, text_width
from phonesim.drawing.labelled_canvas import ACROSS

INPUTS = new_inputs()
SIZE = ImageSize(360, 720)
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)  # no lone surrogates
UGLY = [
    "",
    " ",
    "line one\nline two\r\n\ttabbed",
    "naïve – 🙂🏳️‍🌈 שלום, مرحبا, 日本語",
    "\u202eright to left\u202c and \u200f marks",
    "<pad><start><end>",
    "<tap><3,4> is text here, <0x41> too, <101> and <99,99>",
    "“Milk, eggs”: $3.50!",
    "\x00\x7f\ufeff\ufffd",
]


@pytest.mark.parametrize("text", UGLY)
def test_ugly_texts_survive(text: str) -> None:
    assert INPUTS.answers.decode(INPUTS.answers.encode(text)) == text


@settings(max_examples=5 * settings().max_examples)
@given(any_text)
def test_any_text_survives(text: str) -> None:
    ids = INPUTS.answers.encode(text)
    assert ids[-1] in INPUTS.answers.end_token_ids
    assert not {0, 1, 2} & set(ids[:-1])  # no text can end an answer, begin one or pad it
    assert INPUTS.answers.decode(ids) == text


def test_every_answer_of_the_dialect_survives() -> None:
    dialect = COMPACT
    kinds = set()
    for action, _ in made_up("starter", 2000):
        said = dialect.write(action, SIZE)
        assert INPUTS.answers.decode(INPUTS.answers.encode(said)) == said
        kinds.add(said.partition(">")[0].removeprefix("<"))
    assert kinds == set(KINDS)


def test_words_of_the_dialect_are_one_token_each() -> None:
    numbers = {token: number for number, token in enumerate(tokens())}
    said = "".join(f"<{kind}>" for kind in KINDS) + "<0,0><35,71><8><100>"
    wanted = [*(f"<{kind}>" for kind in KINDS), "<0,0>", "<35,71>", "<8>", "<100>"]
    assert INPUTS.answers.encode(said)[:-1] == tuple(numbers[word] for word in wanted)
    assert len(INPUTS.answers.encode("<36,0><0,72><101>")) > 3 + 1  # there are no such places


def test_the_numbers_of_tokens_are_those_of_the_list() -> None:
    tokenizer = INPUTS.answers.tokenizer
    assert len(tokenizer) == len(tokens()) == len(set(tokens()))
    assert tokenizer.convert_ids_to_tokens(list(range(len(tokens())))) == list(tokens())
    assert len(places()) == ROWS * COLUMNS
    assert tokens()[-len(places()) :] == places()  # last, and row by row
    assert places()[COLUMNS] == "<0,1>"


def test_signs_are_all_different_and_leave_nought_for_nothing() -> None:
    found = signs(("home", "search"))
    assert len(found) == len(set(found))
    assert found[:2] == ("space", "other")  # the reader knows the first by its number
    assert set(CONTROLS) < set(found)
    assert "icon:home" in found
    assert set(found) & set(CHARACTERS) == set(CHARACTERS) - {" ", "\n"}


def test_no_letter_is_narrower_than_a_place_on_the_labelled_screen() -> None:
    letters = [each for each in CHARACTERS if each.isalnum()]
    for size in range(10, 30):  # the phone writes nothing smaller
        assert min(text_width(each, face(size)) for each in letters) >= ACROSS
