"""The reader spells what it sees: exactly on a hand-made alphabet, and mostly on real screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.imitation.few_samples import samples
from torch import Tensor

from distrl.agent.loading import load_policy
from distrl.agent.starter.building import new_config
from distrl.agent.starter.configuration import StarterConfig
from distrl.agent.starter.model import StarterModel
from distrl.agent.starter.screen_reader import (
    ACROSS,
    DOWN,
    SPACE,
    ReadScreen,
    ScreenReader,
    lively_places,
)
from phonesim.drawing.labelled_canvas import STARTS

Spot = tuple[int, int]  # row and column of a place

# A hand-made script. A sign is one white pixel in the middle of its place, in the row of its
# number less one; a beginning is a second one, in the last row. The weights below read it.
LETTERS = "abcdefgh"
SIGNS = ["space", *LETTERS]
BEGINS = DOWN - 1


@pytest.fixture(scope="module")
def reader() -> ScreenReader:
    config = StarterConfig(
        signs=SIGNS,
        reader_width=DOWN,
        reader_layers=0,
        max_items=12,
        max_ink=100,
        letters=5,
        letter_width=3,
        strip=16,
    )
    made = ScreenReader(config)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
        made.norm.weight.fill_(1.0)
        middle = made.look.weight.shape[3] // 2
        for row in range(DOWN):  # feature n: is the n-th pixel of the middle white?
            made.look.weight[row, :, row, middle] = 4.0
            made.signs.weight[min(row + 1, len(SIGNS)), row] = 40.0 * (row < BEGINS)
        made.marks.weight[0, :BEGINS] = 4.0
        made.marks.weight[1, BEGINS] = 4.0
        made.marks.bias.fill_(-20.0)
    return made


def drawn(*words: tuple[Spot, str, Sequence[int]]) -> Tensor:  # [1, 720, 360, 3]
    """Words at spots; the numbers say how many columns each letter is from the one before."""
    pixels = torch.zeros(1, 720, 360, 3, dtype=torch.uint8)
    for (row, column), word, steps in words:
        for place, letter in enumerate(word):
            column += steps[place % len(steps)] if place else 0
            sign = 0 if letter == " " else SIGNS.index(letter)
            pixels[0, row * DOWN + sign, column * ACROSS + 1] = 255
            if place == 0:
                pixels[0, row * DOWN + BEGINS, column * ACROSS + 1] = 255
    return pixels


TABLE = torch.randn(len(SIGNS) + 1, 3, generator=torch.Generator().manual_seed(1))
TABLE[0] = 0.0


def spelled(screen: ReadScreen, table: Tensor, row: int = 0) -> dict[Spot, tuple[int, ...]]:
    """The signs of every item that surely begins a word: those whose letters are nearest."""
    nearest = torch.cdist(screen.letters[row].float(), table).argmin(-1).tolist()
    spots = zip(screen.rows[row].tolist(), screen.columns[row].tolist(), strict=True)
    return {
        (int(line), int(column)): tuple(signs[: signs.index(0)] if 0 in signs else signs)
        for (line, column), signs, sure in zip(
            spots, nearest, screen.certainty[row].tolist(), strict=True
        )
        if sure > 0.5
    }


def words_of(reader: ScreenReader, pixels: Tensor) -> dict[Spot, str]:
    with torch.no_grad():
        screen = reader(pixels, TABLE)
    sure = screen.letters[0, screen.certainty[0] > 0.5]
    blur = torch.cdist(sure, TABLE).amin(-1)  # each is one of the table's letters
    assert float(blur.max()) < 1e-3
    found = spelled(screen, TABLE)
    return {spot: "".join(SIGNS[sign - 1] for sign in signs) for spot, signs in found.items()}


def test_words_are_spelled_whatever_their_letters_width(reader: ScreenReader) -> None:
    pixels = drawn(
        ((2, 3), "badge", [1, 2, 3]),
        ((2, 40), "had", [3]),
        ((60, 0), "c", [1]),
        ((71, 9), "ha", [2]),
    )
    wanted = {(2, 3): "badge", (2, 40): "had", (60, 0): "c", (71, 9): "ha"}
    assert words_of(reader, pixels) == wanted


def test_a_space_ends_a_word(reader: ScreenReader) -> None:
    pixels = drawn(((5, 10), "be a ", [2]), ((5, 16), "a ", [2]))
    assert words_of(reader, pixels) == {(5, 10): "be", (5, 16): "a"}


def test_what_has_no_space_after_it_runs_on(reader: ScreenReader) -> None:
    """An icon with its label: the label's own beginning is an item, too."""
    pixels = drawn(((7, 10), "h", [1]), ((7, 13), "ad ", [1]))
    assert words_of(reader, pixels) == {(7, 10): "had", (7, 13): "ad"}


def test_a_word_ends_with_its_row_its_strip_and_its_slots(reader: ScreenReader) -> None:
    pixels = drawn(
        ((3, 118), "ab", [1]),
        ((4, 0), "cd", [1]),  # right below: reading order goes on here, the word does not
        ((20, 5), "abcdefgh", [1]),  # five letters are kept
        ((30, 5), "abc", [8]),  # sixteen places are looked at: the third letter is beyond
    )
    wanted = {(3, 118): "ab", (4, 0): "cd", (20, 5): "abcde", (30, 5): "ab"}
    assert words_of(reader, pixels) == wanted


def test_items_come_in_reading_order(reader: ScreenReader) -> None:
    pixels = drawn(
        ((50, 7), "a", [1]), ((2, 90), "b", [1]), ((2, 8), "c", [1]), ((50, 2), "d", [1])
    )
    with torch.no_grad():
        screen = reader(pixels, TABLE)
    order = screen.rows[0] * 120 + screen.columns[0]
    assert bool((order[1:] > order[:-1]).all())
    assert list(spelled(screen, TABLE)) == [(2, 8), (2, 90), (50, 2), (50, 7)]


def test_flat_places_are_not_looked_at() -> None:
    pixels = torch.full((1, 720, 360, 3), 90, dtype=torch.uint8)
    assert not lively_places(pixels).any()
    pixels[0, 105, 151] = 110  # row 10, column 50
    lively = lively_places(pixels)[0].nonzero().tolist()
    assert lively == [[10, column] for column in range(47, 54)]  # seen by neighbours, and beside
    pixels[0, 105, 151] = 101  # hardly any different
    assert not lively_places(pixels).any()


# The model that we ship --------------------------------------------------------------------------


def true_words(labels: NDArray[np.uint16], config: StarterConfig) -> dict[Spot, tuple[int, ...]]:
    """What stands on a screen, by the phone's own account: from each beginning to a space."""
    found = {}
    for row, column in np.argwhere(labels & STARTS > 0).tolist():
        word = []
        for sign in (labels[row, column : column + config.strip] & (STARTS - 1)).tolist():
            if sign == SPACE:
                break
            word += [sign] if sign else []
        found[row, column] = tuple(word[: config.letters])
    return found


def share_read(model: StarterModel) -> Mapping[str, float]:
    """Of the words, and of the icons and controls, on thirty screens of the test split."""
    some = samples("test", 30, every=5)
    right: dict[str, list[bool]] = {"words": [], "icons": []}
    with torch.no_grad():
        encoder = model.encoder
        table = encoder.letter_table.weight * encoder.something
        for sample in some:
            pixels = torch.from_numpy(sample.observation.screen.pixels.copy()).unsqueeze(0)
            found = spelled(encoder.screen_reader(pixels, table), table)
            assert sample.signs is not None
            for spot, word in true_words(sample.signs, model.config).items():
                if len(model.config.signs[word[0] - 1]) == 1:
                    right["words"].append(found.get(spot) == word)
                else:
                    right["icons"].append(found.get(spot, ())[:1] == word[:1])
    assert len(right["words"]) > 500
    assert len(right["icons"]) > 200
    return {name: sum(each) / len(each) for name, each in right.items()}


def test_the_shipped_model_reads_screens_that_it_has_never_seen() -> None:
    """Measured: 93 % of 1,010 words spelled without a mistake, 99 % of 370 icons and controls."""
    policy = load_policy("starter")
    assert isinstance(policy.network, StarterModel)
    shares = share_read(policy.network)
    assert shares["words"] > 0.90
    assert shares["icons"] > 0.96


@pytest.mark.slow
def test_a_model_that_was_never_taught_reads_nothing() -> None:
    """So that what the test above measures is reading."""
    config = load_policy("starter").network.config
    untaught = StarterModel(new_config([s[5:] for s in config.signs if s.startswith("icon:")]))
    assert untaught.config.signs == config.signs
    assert max(share_read(untaught).values()) < 0.02
