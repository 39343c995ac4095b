"""Token by token at fixed places in memory: the same logits as the model's own decoding."""

from __future__ import annotations

import pytest
import torch
from tests.agent.starter.tiny_starter import padded, screens, tiny_starter
from torch import Tensor

from distrl.agent.starter.decoding_graph import DecodingGraphs
from distrl.agent.starter.model import EncodedScreen, StarterModel

LENGTH = 7
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def on(device: str) -> StarterModel:
    model: StarterModel = tiny_starter().to(device)  # type: ignore[arg-type]
    return model


def encoded(model: StarterModel, count: int) -> EncodedScreen:
    prompts = padded([f"Go to place {number}" for number in range(count)]).to(model.device)
    found: EncodedScreen = model.encoder(prompts, None, screens(count).to(model.device))
    return found


def tokens(model: StarterModel, count: int) -> Tensor:  # [count, LENGTH]
    """Answers with letters, spaces and places in them, all beginning alike."""
    rng = torch.Generator().manual_seed(5)
    config = model.config
    letters = torch.randint(3, config.first_character + 20, (count, LENGTH), generator=rng)
    places = torch.randint(config.first_place, config.vocab_size, (count, LENGTH), generator=rng)
    chosen = torch.where(torch.rand((count, LENGTH), generator=rng) < 0.7, letters, places)
    chosen[:, 0] = config.decoder_start_token_id
    return chosen.to(model.device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [1, 5, 8, 11])
@torch.inference_mode()
def test_the_logits_are_those_of_the_model(count: int, device: str) -> None:
    model = on(device)
    screen, answer = encoded(model, count), tokens(model, count)
    wanted = model.decode(screen, answer).logits
    assert wanted is not None
    decoding = DecodingGraphs(model, LENGTH).begin(screen, answer[:, 0])
    for place in range(LENGTH):
        if place:
            decoding.step(answer[:, place])
        torch.testing.assert_close(decoding.logits, wanted[:, place], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@torch.inference_mode()
def test_rows_that_are_kept_go_on_as_before(device: str) -> None:
    model = on(device)
    screen, answer = encoded(model, 11), tokens(model, 11)
    wanted = model.decode(screen, answer).logits
    assert wanted is not None
    decoding = DecodingGraphs(model, LENGTH).begin(screen, answer[:, 0])
    rows = torch.arange(11, device=model.device)
    for place in range(1, LENGTH):
        kept = {2: [9, 1, 4, 0], 4: [3, 1]}.get(place)  # into a smaller graph, then within it
        if kept is not None:
            chosen = torch.tensor(kept, device=model.device)
            decoding.keep(chosen)
            rows = rows[chosen]
        decoding.step(answer[rows, place])
        torch.testing.assert_close(decoding.logits, wanted[rows, place], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@torch.inference_mode()
def test_new_weights_and_new_screens_need_no_new_graph(device: str) -> None:
    model = on(device)
    graphs = DecodingGraphs(model, LENGTH)
    first, second = encoded(model, 3), encoded(model, 6)
    graphs.begin(first, tokens(model, 3)[:, 0])
    before = model.say.bias.clone()
    try:
        model.say.bias.add_(1.0)
        wanted = model.decode(second, tokens(model, 6)[:, :1]).logits
        assert wanted is not None
        decoding = graphs.begin(second, tokens(model, 6)[:, 0])
        torch.testing.assert_close(decoding.logits, wanted[:, 0], atol=2e-4, rtol=1e-4)
        assert graphs.of(3) is graphs.of(6)
    finally:
        model.say.bias.copy_(before)
