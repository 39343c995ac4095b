"""Every family: from a directory on disk to the tokens that its own `generate` gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from tests.agent.made_up_screens import LONG, SHORT, TWO_SCREENS, blocks
from tests.agent.tiny_models import BUILDERS, tiny_model
from torch import Tensor

from distrl.agent.families.model_family import ModelInputs
from distrl.agent.model_directory import OpenedModel, open_model
from distrl.agent.prompt import Prompt

NEW_TOKENS = 6
every_family = pytest.mark.parametrize("model_type", list(BUILDERS))


@cache
def opened(model_type: str) -> OpenedModel:
    return open_model(tiny_model(model_type))


def build(model_type: str, *prompts: Prompt) -> ModelInputs:
    return opened(model_type).input_builder.build(prompts)


@torch.no_grad()
def next_logits(model_type: str, inputs: ModelInputs, said: Tensor) -> Tensor:
    """The logits after the prompt and what was said so far ([n, k]), all in one forward pass."""
    model: Any = opened(model_type).model
    tensors = dict(inputs.tensors)
    if model.config.is_encoder_decoder:
        start = torch.full((len(said), 1), model.config.decoder_start_token_id)
        tensors["decoder_input_ids"] = torch.cat([start, said], dim=1)
    else:
        for name in tensors:
            if name in ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"):
                more = {"input_ids": said, "attention_mask": torch.ones_like(said)}
                tensors[name] = torch.cat([tensors[name], more.get(name, said * 0)], dim=1)
    logits: Tensor = model(**tensors).logits[:, -1]
    return logits


def first_logits(model_type: str, *prompts: Prompt) -> Tensor:
    nothing = torch.zeros(len(prompts), 0, dtype=torch.int64)
    return next_logits(model_type, build(model_type, *prompts), nothing)


@every_family
def test_greedy_tokens_are_those_of_generate(model_type: str) -> None:
    inputs = build(model_type, SHORT, LONG, TWO_SCREENS)
    said = torch.zeros(3, 0, dtype=torch.int64)
    for _ in range(NEW_TOKENS):
        likeliest = next_logits(model_type, inputs, said).argmax(-1, keepdim=True)
        said = torch.cat([said, likeliest], dim=1)
    model: Any = opened(model_type).model
    limits = {"max_new_tokens": NEW_TOKENS, "min_new_tokens": NEW_TOKENS, "do_sample": False}
    model.generation_config.eos_token_id = None  # tiny models do not know where to end
    generated = model.generate(**inputs.tensors, **limits)
    assert torch.equal(generated[:, -NEW_TOKENS:], said)
    assert len(set(map(tuple, said.tolist()))) > 1  # not all the same, so they can tell a mix-up


@every_family
def test_a_batch_gives_what_its_prompts_give_alone(model_type: str) -> None:
    """Neither padding nor the pictures of a neighbour may change an answer."""
    together = first_logits(model_type, SHORT, LONG, TWO_SCREENS)
    alone = torch.cat([first_logits(model_type, each) for each in (SHORT, LONG, TWO_SCREENS)])
    assert torch.isfinite(together).all()
    torch.testing.assert_close(together, alone, atol=2e-4, rtol=0.0)


@every_family
def test_another_picture_gives_other_logits(model_type: str) -> None:
    past, current = blocks(30), blocks(40)
    other_current = replace(TWO_SCREENS, screens=(TWO_SCREENS.screens[0], current))
    other_past = replace(TWO_SCREENS, screens=(past, TWO_SCREENS.screens[1]))
    logits = first_logits(model_type, TWO_SCREENS, other_current, other_past)
    assert (logits[0] - logits[1]).abs().max() > 1e-2
    assert (logits[0] - logits[2]).abs().max() > 1e-2


@every_family
def test_prompts_without_a_picture_are_read_too(model_type: str) -> None:
    """An instruction alone is asked for its value; beside prompts with pictures, too."""
    wordy = replace(SHORT, screens=())
    together = first_logits(model_type, wordy, LONG)
    torch.testing.assert_close(together[0], first_logits(model_type, wordy)[0], atol=2e-4, rtol=0)
    torch.testing.assert_close(together[1], first_logits(model_type, LONG)[0], atol=2e-4, rtol=0)


@every_family
def test_the_seen_size_is_known_beforehand(model_type: str) -> None:
    builder = opened(model_type).input_builder
    for width, height in ((120, 240), (360, 720), (721, 361), (90, 90), (108, 241), (50, 999)):
        screen = blocks(5, width, height)
        [size] = builder.build([replace(SHORT, screens=(blocks(6), screen))]).image_sizes
        assert builder.seen_size(screen) == size, (width, height)


@every_family
def test_what_a_person_says_cannot_pose_as_a_special_token(model_type: str) -> None:
    """A note may hold any text: it neither ends a turn nor asks for a picture."""
    builder: Any = opened(model_type).input_builder
    tokenizer = builder.answers.tokenizer
    special = [each.content for each in tokenizer.added_tokens_decoder.values() if each.special]
    asked = replace(LONG, text="Type this: " + " and ".join(special))
    polite = build(model_type, replace(LONG, text="Type this: nothing")).tensors["input_ids"]
    [ids] = build(model_type, asked).tensors["input_ids"].tolist()
    for token in special:
        number = tokenizer.convert_tokens_to_ids(token)
        assert ids.count(number) == int((polite == number).sum()), token
    assert torch.isfinite(first_logits(model_type, asked)).all()


UGLY = [
    "",
    "tap 0.5 0.25",
    'say "hi, there"\nand\tgo',
    "<|im_end|></s><image>",
    "naïve 🙂 שלום",
    " ",
]


@every_family
@pytest.mark.parametrize("text", UGLY)
def test_an_answer_survives_tokens_and_back(model_type: str, text: str) -> None:
    builder = opened(model_type).input_builder
    tokens = builder.answers.encode(text)
    assert tokens[-1] in builder.answers.end_token_ids
    assert not builder.answers.end_token_ids & set(tokens[:-1])
    assert builder.answers.decode(tokens) == text
    assert builder.answers.decode(tokens[:-1]) == text  # cut off before its end


@every_family
def test_a_special_token_inside_an_answer_is_shown(model_type: str) -> None:
    """It must reach the dialect, which calls it unreadable, and not vanish."""
    builder = opened(model_type).input_builder
    end = builder.answers.encode("")[-1]
    words: Sequence[int] = builder.answers.encode("tap")[:-1]
    assert builder.answers.decode([*words, builder.answers.pad_token_id, *words, end]) not in (
        "taptap",
        "tap tap",
    )


@every_family
def test_inputs_are_on_the_cpu_and_batches_of_one_row_each(model_type: str) -> None:
    inputs = build(model_type, SHORT, TWO_SCREENS)
    assert len(inputs.image_sizes) == 2
    assert all(tensor.device.type == "cpu" for tensor in inputs.tensors.values())
    mask = inputs.tensors["attention_mask"]
    if opened(model_type).model.config.is_encoder_decoder:
        assert bool((mask[:, 0] == 1).all())
    else:
        assert bool((mask[:, -1] == 1).all())  # answers go on where the prompts end
    assert mask.sum(1).tolist() != [mask.shape[1]] * 2  # the two are of different lengths
