"""Auto-UI's own parts: the gate, the screens, the shared embeddings."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.agent.made_up_screens import LONG, SHORT, TWO_SCREENS
from tests.agent.tiny_models import auto_ui, enliven, tiny_model
from transformers import AutoConfig

from distrl.agent.families.auto_ui import (
    AutoUiConfig,
    AutoUiForConditionalGeneration,
    register_auto_ui,
)
from distrl.agent.model_directory import open_model


def tiny(image_tokens: str = "pooled") -> Any:
    config = auto_ui()[0].config
    config.image_tokens = image_tokens
    torch.manual_seed(3)
    model: Any = AutoUiForConditionalGeneration(config)
    model.eval()
    enliven(model)
    return model


def words_and_screens() -> tuple[torch.Tensor, torch.Tensor]:
    numbers = torch.Generator().manual_seed(5)
    ids = torch.randint(3, 200, (2, 7), generator=numbers)
    return ids, torch.randn(2, 2, 3, 56, 56, generator=numbers)


@torch.no_grad()
def test_the_gate_mixes_words_with_what_they_see() -> None:
    """Out comes (1 − λ)·words + λ·seen, λ = σ(W·[words; seen]); all words see the one vector."""
    model = tiny()
    encoder = model.encoder
    ids, pixels = words_and_screens()
    words = encoder.text_model(input_ids=ids).last_hidden_state
    one = encoder.image_dense(encoder.vision_model(pixel_values=pixels[:, 0]).pooler_output)
    query, key, value = encoder.mha_layer.in_proj_weight.chunk(3)
    value_bias = encoder.mha_layer.in_proj_bias.chunk(3)[2]
    seen = encoder.mha_layer.out_proj(one @ value.T + value_bias).unsqueeze(1).expand_as(words)
    gate = torch.sigmoid(encoder.gate_dense(torch.cat([words, seen], dim=-1)))
    fused = encoder(input_ids=ids, pixel_values=pixels[:, :1]).last_hidden_state
    torch.testing.assert_close(fused, (1 - gate) * words + gate * seen, atol=1e-5, rtol=0)
    assert (fused - words).abs().max() > 0.1
    assert query.shape == key.shape == (64, 64)


@torch.no_grad()
@pytest.mark.parametrize("image_tokens", ["pooled", "patches"])
def test_a_screen_that_is_not_there_is_not_seen(image_tokens: str) -> None:
    encoder = tiny(image_tokens).encoder
    ids, pixels = words_and_screens()
    mask = torch.tensor([[0, 1], [1, 1]])
    seen = encoder(input_ids=ids, pixel_values=pixels, screen_mask=mask).last_hidden_state
    pixels[0, 0] = 1e4
    garbage = encoder(input_ids=ids, pixel_values=pixels, screen_mask=mask).last_hidden_state
    torch.testing.assert_close(garbage, seen, atol=1e-5, rtol=0)
    pixels[1, 0] = 0.0
    other = encoder(input_ids=ids, pixel_values=pixels, screen_mask=mask).last_hidden_state
    assert (other[1] - seen[1]).abs().max() > 1e-3


@torch.no_grad()
def test_a_prompt_without_screens_is_words_alone() -> None:
    encoder = tiny().encoder
    ids, pixels = words_and_screens()
    mask = torch.tensor([[0, 0], [1, 1]])
    fused = encoder(input_ids=ids, pixel_values=pixels, screen_mask=mask).last_hidden_state
    alone = encoder(input_ids=ids[:1]).last_hidden_state
    torch.testing.assert_close(fused[:1], alone, atol=1e-5, rtol=0)
    assert torch.isfinite(fused).all()


@torch.no_grad()
def test_patches_see_more_than_one_vector() -> None:
    ids, pixels = words_and_screens()
    pooled, patches = tiny("pooled").encoder, tiny("patches").encoder
    patches.load_state_dict(pooled.state_dict())
    first = pooled(input_ids=ids, pixel_values=pixels).last_hidden_state
    second = patches(input_ids=ids, pixel_values=pixels).last_hidden_state
    assert (first - second).abs().max() > 1e-3


def test_generate_sees_the_picture() -> None:
    """The trap of many T5s with pictures: `generate` that encodes the words alone."""
    opened = open_model(tiny_model("auto_ui"))
    model: Any = opened.model
    inputs = opened.input_builder.build([SHORT, LONG, TWO_SCREENS]).tensors
    blank = {**inputs, "pixel_values": torch.zeros_like(inputs["pixel_values"])}
    limits = {"max_new_tokens": 1, "do_sample": False, "output_logits": True}
    seen, unseen = (
        model.generate(**each, **limits, return_dict_in_generate=True).logits[0]
        for each in (inputs, blank)
    )
    assert (seen - unseen).abs().max() > 1e-2


def test_both_halves_share_one_table_of_words() -> None:
    model: Any = open_model(tiny_model("auto_ui")).model
    tables = [
        model.shared.weight,
        model.encoder.text_model.embed_tokens.weight,
        model.decoder.embed_tokens.weight,
        model.lm_head.weight,
    ]
    assert len({table.data_ptr() for table in tables}) == 1


def test_its_config_is_known_by_its_type_and_twice_is_fine() -> None:
    register_auto_ui()
    register_auto_ui()
    config: Any = AutoConfig.from_pretrained(tiny_model("auto_ui"))
    assert isinstance(config, AutoUiConfig)
    assert config.text_config.d_model == 64
    assert config.vision_config.image_size == 56
    assert config.decoder_start_token_id == config.pad_token_id == 0
