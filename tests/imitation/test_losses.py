"""The losses of imitation, worked out once more by hand."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from tests.agent.starter.tiny_starter import SIZES
from tests.imitation.few_samples import SIGNS, batch_of, samples
from torch import Tensor
from torch.nn import functional

from distrl.agent.starter.building import new_model
from distrl.agent.starter.model import StarterModel
from distrl.imitation.losses import (
    ImitationLosses,
    answer_surprise,
    imitation_losses,
    unpack_bits,
)
from distrl.records import LongPress, Tap

ICONS = [sign[5:] for sign in SIGNS if sign.startswith("icon:")]
SOME = samples("train", 24)
COUNT = 10


def model_for_samples() -> StarterModel:
    """Small, with the signs of the phone."""
    made = new_model(ICONS, seed=1, **SIZES)
    assert tuple(made.config.signs) == SIGNS
    return made


MODEL = model_for_samples()
BATCH = batch_of(SOME[:COUNT])


def figures(losses: ImitationLosses) -> Tensor:
    return torch.stack([losses.action, losses.ink, losses.starts, losses.signs]).detach()


@torch.no_grad()
def logits_by_hand(
    model: StarterModel, batch: dict[str, Tensor], row: int
) -> tuple[Tensor, Tensor]:
    """What the model says to one sample, alone and unpadded, and what it should have said."""
    prompt = batch["prompt"][row : row + 1].long()
    answer = batch["answer"][row].long()
    answer = answer[answer != 0]
    begun = torch.cat([torch.tensor([1]), answer[:-1]]).unsqueeze(0)
    said = model(
        input_ids=prompt[:, : int((prompt != 0).sum())],
        pixel_values=batch["pixels"][row : row + 1],
        decoder_input_ids=begun,
    )
    return said.logits[0], answer


def test_the_action_loss_is_minus_the_log_of_all_that_would_be_right() -> None:
    wanted = []
    for row, sample in enumerate(SOME[:COUNT]):
        logits, answer = logits_by_hand(MODEL, BATCH, row)
        shares = logits.double().softmax(-1)
        surprise = 0.0
        for place, token in enumerate(answer.tolist()):
            share = float(shares[place, token])
            if place == 1 and isinstance(sample.action, Tap | LongPress):
                right = sample.cells.reshape(-1).nonzero()[0].tolist()
                assert token - MODEL.config.first_place in right
                share = sum(float(shares[1, MODEL.config.first_place + cell]) for cell in right)
            surprise -= math.log(share)
        wanted.append(surprise)
    assert {type(sample.action) for sample in SOME[:COUNT]} > {Tap}  # and others
    found = imitation_losses(MODEL, BATCH)
    assert float(found.action.detach()) == pytest.approx(sum(wanted) / COUNT, rel=1e-4)


def test_the_reading_losses_are_means_over_what_is_there() -> None:
    """Of every place: is there ink; does something begin. Of places with ink: which sign."""
    with torch.no_grad():
        found = imitation_losses(MODEL, BATCH)
        _, screen = MODEL.encoder.read(BATCH["prompt"].long(), BATCH["pixels"])
        signs = BATCH["signs"].flatten(1).long()
        ink = functional.softplus(torch.where(signs != 0, -1, 1) * screen.opinions.ink_logits)
        starts = functional.softplus(torch.where(signs < 0, -1, 1) * screen.opinions.start_logits)
        names = MODEL.encoder.screen_reader.sign_logits(screen.opinions.places[signs != 0])
        wrong = functional.cross_entropy(names, signs[signs != 0].abs())
        right = (names.argmax(-1) == signs[signs != 0].abs()).float().mean()
    assert float(found.ink) == pytest.approx(float(ink.sum() / (signs != 0).sum()), rel=1e-4)
    assert float(found.starts) == pytest.approx(float(starts.sum() / (signs < 0).sum()), rel=1e-4)
    assert float(found.signs) == pytest.approx(float(wrong), rel=1e-4)
    assert float(found.right_signs) == pytest.approx(float(right), abs=1e-4)
    assert float(found.total) == pytest.approx(float(figures(found).sum()), rel=1e-5)


def test_padding_moves_nothing() -> None:
    clean = figures(imitation_losses(MODEL, BATCH))
    longest = int((BATCH["answer"] != 0).sum(1).max())
    words = int((BATCH["prompt"] != 0).sum(1).max())
    cut = BATCH | {"answer": BATCH["answer"][:, :longest], "prompt": BATCH["prompt"][:, :words]}
    torch.testing.assert_close(figures(imitation_losses(MODEL, cut)), clean, atol=1e-5, rtol=1e-5)
    spoilt = copy.deepcopy(MODEL)
    rng = torch.Generator().manual_seed(1)
    garbage = 1e6 * torch.randn(spoilt.answer_order.weight.shape, generator=rng)
    with torch.no_grad():
        spoilt.answer_order.weight[longest:] = garbage[longest:]  # where every answer has ended
    torch.testing.assert_close(figures(imitation_losses(spoilt, BATCH)), clean, atol=1e-5, rtol=0)
    with torch.no_grad():
        spoilt.answer_order.weight[longest - 1] = garbage[0]
    moved = figures(imitation_losses(spoilt, BATCH)) - clean
    assert float(moved.abs().max()) > 1e-2


# A vocabulary of ten tokens, of which the last four are places; answers of three tokens at most.
FIRST_PLACE, VOCABULARY = 6, 10
SHARES = [[0.1] * VOCABULARY, [0.05] * 6 + [0.1, 0.2, 0.3, 0.1], [0.1] * VOCABULARY]
CELLS = torch.tensor([[True, False, True, False], [False] * 4])


def surprise_of(
    answers: list[list[int]], best: list[list[int]] | None = None
) -> tuple[Tensor, Tensor]:
    """Of two answers, the first of them a tap that may also land on the third place."""
    log_probs = torch.tensor([SHARES, SHARES]).log()
    for row, tokens in enumerate(best or ()):
        log_probs[row, torch.arange(len(tokens)), tokens] = 0.0  # say this
    answer = torch.tensor(answers)
    return answer_surprise(log_probs, answer, answer != 0, CELLS, FIRST_PLACE)


def test_equal_places_count_together() -> None:
    surprise, _ = surprise_of([[3, 6, 2], [4, 8, 2]])
    # −ln 0.1, −ln (0.1 + 0.3), −ln 0.1; the second may land nowhere else: −ln 0.3
    wanted = torch.tensor([[2.302585, 0.916291, 2.302585], [2.302585, 1.203973, 2.302585]])
    torch.testing.assert_close(surprise, wanted, atol=1e-5, rtol=0)


def test_an_answer_is_right_where_every_token_or_an_equal_place_is() -> None:
    answers = [[3, 6, 2], [4, 5, 0]]  # the second is shorter

    def right(*best: list[int]) -> list[bool]:
        return [bool(each) for each in surprise_of(answers, list(best))[1]]

    assert right([3, 6, 2], [4, 5, 9]) == [True, True]  # what is said after the end is not heard
    assert right([3, 8, 2], [4, 5, 0]) == [True, True]  # another place of the same button
    assert right([3, 7, 2], [4, 5, 0]) == [False, True]  # beside it
    assert right([3, 0, 2], [4, 5, 0]) == [False, True]  # no place at all
    assert right([3, 6, 1], [4, 5, 0]) == [False, True]  # it does not end
    assert right([3, 6, 2], [4, 8, 0]) == [True, False]  # only taps have equals


def test_bits_are_unpacked_as_they_were_packed() -> None:
    cells = torch.stack([torch.from_numpy(sample.cells.reshape(-1)) for sample in SOME[:COUNT]])
    assert torch.equal(unpack_bits(BATCH["cells"]), cells)
    assert unpack_bits(torch.tensor([[1, 128]], dtype=torch.uint8)).nonzero()[:, 1].tolist() == [
        7,
        8,
    ]


def test_every_part_of_the_model_learns() -> None:
    model = model_for_samples()
    losses = imitation_losses(model, BATCH)
    torch.autograd.backward(losses.total)
    idle = [
        name
        for name, each in model.named_parameters()
        if each.grad is None or not float(each.grad.abs().max()) > 0
    ]
    # After the place of a tap nothing but the end can come; these samples have no swipes.
    assert [name for name in idle if not name.startswith("answer_place.")] == []


def test_the_reader_learns_from_reading_and_the_rest_from_acting() -> None:
    model = model_for_samples()
    losses = imitation_losses(model, BATCH)
    torch.autograd.backward(losses.ink + losses.starts + losses.signs)
    trained = {name for name, each in model.named_parameters() if each.grad is not None}
    assert trained == {
        name for name, _ in model.named_parameters() if name.startswith("encoder.screen_reader.")
    }


def test_with_a_frozen_encoder_only_the_decoder_is_trained() -> None:
    wanted = imitation_losses(MODEL, BATCH)
    model = model_for_samples()
    model.encoder.requires_grad_(False)
    found = imitation_losses(model, BATCH)
    assert float(found.action.detach()) == pytest.approx(float(wanted.action.detach()), rel=1e-5)
    assert torch.equal(found.right_actions, wanted.right_actions)
    assert float(found.ink) == float(found.starts) == float(found.signs) == 0.0
    torch.autograd.backward(found.total)
    trained = {name for name, each in model.named_parameters() if each.grad is not None}
    assert trained
    assert not any(name.startswith("encoder.") for name in trained)
