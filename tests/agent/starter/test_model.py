"""One answer a screen and a prompt: however they are batched, padded, or said token by token."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from tests.agent.starter.tiny_starter import (
    SIZES,
    TOKENIZER,
    padded,
    screens,
    tiny_starter,
    tokens_of,
)
from torch import Tensor

from distrl.agent.dialects.compact import COLUMNS
from distrl.agent.starter.model import (
    EVERYWHERE,
    AnswerSoFar,
    EncodedScreen,
    Lookup,
    StarterModel,
)

PROMPTS = (
    "Open the clock.",
    'Add a note called "Milk, eggs" with <tap><3,4> <type>milk and more in it',
    "",
)
ANSWERS = ("<tap><12,34>", "<type>Milk, eggs\nand a gooseberry", "<swipe><1,2><3,4><8>")
START, PLACES = 1, tiny_starter().config.first_place


@torch.no_grad()
def logits_of(
    model: StarterModel, prompts: Tensor, pixels: Tensor, answers: Tensor
) -> Tensor:  # [n, length, vocabulary]
    begun = torch.cat([torch.full((len(answers), 1), START), answers], 1)
    found = model(input_ids=prompts, pixel_values=pixels, decoder_input_ids=begun).logits
    assert isinstance(found, Tensor)
    return found


def test_neither_padding_nor_neighbours_change_an_answer() -> None:
    model, pixels = tiny_starter(), screens(3)
    together = logits_of(model, padded(PROMPTS, 90), pixels, padded(ANSWERS, 40))
    for row, (prompt, answer) in enumerate(zip(PROMPTS, ANSWERS, strict=True)):
        said = padded([answer])
        alone = logits_of(model, padded([prompt]), pixels[row : row + 1], said)
        shown = together[row, : said.shape[1] + 1]
        torch.testing.assert_close(shown, alone[0], atol=1e-5, rtol=0)
    assert float((together[0, 0] - together[1, 0]).abs().max()) > 0.1  # no mix-up goes unseen
    assert bool(torch.isfinite(together).all())


def test_garbage_where_there_is_no_word_moves_nothing() -> None:
    model, pixels = tiny_starter(), screens(2)
    texts = ("Open the clock", "a b c d")
    spoilt = copy.deepcopy(model)
    rng = torch.Generator().manual_seed(0)
    garbage = 1e6 * torch.randn(spoilt.encoder.order_table.weight.shape, generator=rng)
    with torch.no_grad():
        spoilt.encoder.order_table.weight[4:] = garbage[4:]
    answers = padded(ANSWERS[:2])
    clean = logits_of(model, padded(texts), pixels, answers)
    torch.testing.assert_close(
        logits_of(spoilt, padded(texts), pixels, answers), clean, atol=1e-5, rtol=0
    )
    with torch.no_grad():
        spoilt.encoder.order_table.weight[2] = garbage[2]  # "clock" has a state that counts
    moved = logits_of(spoilt, padded(texts), pixels, answers)
    assert float((moved[0] - clean[0]).abs().max()) > 0.1


def test_screen_and_words_and_their_order_all_count() -> None:
    answers = padded(["<tap><1,1>"])
    plain = logits_of(tiny_starter(), padded(["tap red not blue"]), screens(1), answers)
    swapped = logits_of(tiny_starter(), padded(["tap blue not red"]), screens(1), answers)
    elsewhere = logits_of(tiny_starter(), padded(["tap red not blue"]), screens(1, 7), answers)
    for other in (swapped, elsewhere):
        assert float((other - plain).abs().max()) > 1e-2


@torch.no_grad()
def test_token_by_token_is_the_same_as_all_at_once() -> None:
    model = tiny_starter()
    answers = padded(ANSWERS)
    whole = logits_of(model, padded(PROMPTS), screens(3), answers)
    encoded = model.encoder(padded(PROMPTS), None, screens(3))
    past = None
    begun = torch.cat([torch.full((3, 1), START), answers], 1)
    for place in range(begun.shape[1]):
        token = begun[:, place : place + 1]
        said = model(
            encoder_outputs=encoded, decoder_input_ids=token, past_key_values=past, use_cache=True
        )
        past = said.past_key_values
        torch.testing.assert_close(said.logits[:, 0], whole[:, place], atol=1e-5, rtol=0)


def slots_of(text: str, *, stepwise: bool) -> list[int]:
    model = tiny_starter()
    tokens = torch.tensor([[START, *tokens_of(text)]])
    nothing = torch.zeros(1, 0, 0)
    none = torch.zeros(1, dtype=torch.long)
    so_far = AnswerSoFar((), nothing, nothing, (), none, none, 0)
    if not stepwise:
        return [int(slot) for slot in so_far.letter_slots(tokens, model.config)[0]]
    found = []
    for token in tokens.unsqueeze(-1).unbind(1):
        slots = so_far.letter_slots(token, model.config)
        so_far = so_far.after([], slots, token)
        found.append(int(slots[0, 0]))
    assert so_far.length == tokens.shape[1]
    return found


@pytest.mark.parametrize("stepwise", [False, True])
def test_letters_are_counted_from_the_last_space(stepwise: bool) -> None:
    def slots(text: str) -> list[int]:
        return slots_of(text, stepwise=stepwise)

    #  after          start type  a  b     c
    assert slots("<type>ab c") == [0, 0, 1, 2, 0, 1]
    assert slots("<tap><1,2>") == [0, 0, 0]
    assert slots("<open>a-b") == [0, 0, 1, 2, 3]
    assert slots("<type>🙂a") == [0, 0, 0, 0, 0, 0, 1]  # four bytes are no letters
    longest = SIZES["letters"]
    assert slots("<type>" + "w" * (longest + 3))[-4:] == [longest] * 4


@torch.no_grad()
def test_a_place_is_as_likely_as_the_items_on_it_and_habit_together() -> None:
    """exp(logit) = exp(habit) + Σ exp(item), item by item."""
    model = tiny_starter()
    encoded = model.encoder(padded(PROMPTS), None, screens(3))
    crowded = EncodedScreen(
        encoded.last_hidden_state,
        encoded.memory_mask,
        encoded.letters,
        torch.tensor([[5] * 3 + [7] * 2 + [2591] + [0] * 14] * 3),
    )
    said = model.decode(crowded, torch.tensor([[START, *tokens_of("<tap>")]] * 3))
    assert said.decoder_hidden_states is not None
    hidden = said.decoder_hidden_states[-1]
    assert said.logits is not None
    queries = model.point_query(hidden)[:, 1] / math.sqrt(SIZES["width"])
    keys = model.point_key(crowded.last_hidden_state[:, : SIZES["max_items"]])
    habits = model.anywhere(hidden)[:, 1] + EVERYWHERE
    for row in range(3):
        for cell in (0, 5, 7, 9, 2591):
            total = math.exp(habits[row, cell])
            for item, where in enumerate(crowded.cells[row].tolist()):
                if where == cell:
                    total += math.exp(queries[row] @ keys[row, item])
            assert float(said.logits[row, 1, PLACES + cell]) == pytest.approx(
                math.log(total), abs=1e-4
            )


@torch.no_grad()
def test_what_is_looked_at_is_copied_letter_by_letter() -> None:
    """With a head that only copies, and looks at one word only, the word comes out."""
    model = copy.deepcopy(tiny_starter())
    for part in (model.say, model.copy_query, model.copy_key):
        part.weight.zero_()
        part.bias.zero_()
    wanted = "gooses"  # as long as a word may be
    prompt = padded([f"go {wanted} now"])
    encoded = model.encoder(prompt, None, screens(1))
    table = model.encoder.letter_table.weight
    model.copy_out.weight.zero_()
    model.copy_out.bias.zero_()
    for letter in set(wanted):  # a letter is said by who is spelled with it
        [token], sign = tokens_of(letter), model.config.signs.index(letter) + 1
        model.copy_out.weight[token] = table[sign]
        model.copy_out.bias[token] = -table[sign].square().sum() / 2
    mask = torch.zeros_like(encoded.memory_mask)
    mask[0, SIZES["max_items"] + 1] = True  # the second word
    only = EncodedScreen(encoded.last_hidden_state, mask, encoded.letters, encoded.cells)
    begun = torch.tensor([[START, *tokens_of(f"<type>{wanted}")]])
    logits = model.decode(only, begun).logits
    assert logits is not None
    heard = logits[0, 1:7, :PLACES].argmax(-1).tolist()
    assert TOKENIZER.decode(heard) == wanted
    text = slice(model.config.first_character, PLACES)  # all that may follow in a text, but its end
    torch.testing.assert_close(logits[0, 7, text], model.copy_out.bias[text])  # nothing beyond it


@torch.no_grad()
def test_a_lookup_finds_its_like_or_nobody() -> None:
    lookup = Lookup(tiny_starter().config)
    lookup.out.weight.zero_()
    lookup.out.bias.zero_()
    lookup.out.weight[0, 0] = lookup.out.weight[1, -1] = 1.0  # what was found, and how surely
    theirs = torch.eye(4).unsqueeze(0)  # four words, spelled nothing like each other
    states = torch.zeros(1, 4, SIZES["width"])
    states[0, :, 0] = torch.tensor([10.0, 20.0, 30.0, 40.0])
    mine = torch.stack([theirs[0, 2] * 5, torch.ones(4) / 9, theirs[0, 3]]).unsqueeze(0)
    everybody, hidden = torch.ones(1, 4, dtype=torch.bool), torch.tensor([[True] * 3 + [False]])
    found = lookup(mine, theirs, states, everybody)
    assert found[0, 0, 0] == pytest.approx(30.0, rel=0.05)
    assert found[0, 0, 1] > 0.95
    assert found[0, 1, 1] < 0.5  # a little like everybody
    assert lookup(mine, theirs, states, hidden)[0, 2, 1] < 1e-2  # who is hidden is not found


@torch.no_grad()
def test_dark_screens_and_empty_prompts_are_survived() -> None:
    dark = torch.zeros(1, 720, 360, 3, dtype=torch.uint8)
    logits = logits_of(tiny_starter(), padded([""]), dark, padded(["<done>"]))
    assert bool(torch.isfinite(logits).all())


def test_what_is_missing_is_said() -> None:
    model = tiny_starter()
    with pytest.raises(ValueError, match="needs pixel_values"):
        model(input_ids=padded(["a"]), decoder_input_ids=padded(["a"]))
    with pytest.raises(ValueError, match="give decoder_input_ids"):
        model(input_ids=padded(["a"]), pixel_values=screens(1))
    with pytest.raises(ValueError, match="give input_ids and pixel_values"):
        model(decoder_input_ids=padded(["a"]))


@torch.no_grad()
def test_items_know_the_cell_they_stand_on() -> None:
    encoded, screen = tiny_starter().encoder.read(padded([""]), screens(1))
    rows, columns = encoded.cells // COLUMNS, encoded.cells % COLUMNS
    assert torch.equal(rows, screen.rows)
    assert torch.equal(columns, (screen.columns * 3 + 1) // 10)  # the pixel in a place's middle
