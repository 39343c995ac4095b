"""New models: the same for the same seed, and known to Hugging Face's Auto classes."""

from __future__ import annotations

from pathlib import Path

import torch
from tests.agent.starter.tiny_starter import (
    ICONS,
    SIZES,
    TOKENIZER,
    padded,
    screens,
    starter_directory,
    tiny_starter,
)
from transformers import AutoConfig, AutoModelForImageTextToText

from distrl.agent.starter.building import new_config, new_model, register
from distrl.agent.starter.configuration import StarterConfig
from distrl.agent.starter.model import StarterModel
from distrl.agent.starter.vocabulary import tokens


def test_the_same_seed_gives_the_same_weights_and_leaves_chance_alone() -> None:
    torch.manual_seed(11)
    untouched = torch.randn(3)
    torch.manual_seed(11)
    first = new_model(ICONS, 5, **SIZES).state_dict()
    assert torch.equal(torch.randn(3), untouched)
    torch.manual_seed(12)
    again, other = new_model(ICONS, 5, **SIZES), new_model(ICONS, 6, **SIZES)
    assert all(torch.equal(first[name], each) for name, each in again.state_dict().items())
    differing = [n for n, each in other.named_parameters() if not torch.equal(first[n], each)]
    assert len(differing) > len(first) // 3  # norms and biases begin the same


def test_the_config_fits_the_vocabulary() -> None:
    config = new_config(ICONS)
    assert config.vocab_size == len(TOKENIZER) == len(tokens())
    assert tokens()[config.first_character] == config.characters[0]
    assert tokens()[config.first_place] == "<0,0>"
    special = (config.pad_token_id, config.bos_token_id, config.eos_token_id)
    assert special == (TOKENIZER.pad_token_id, TOKENIZER.bos_token_id, TOKENIZER.eos_token_id)
    assert config.decoder_start_token_id == config.bos_token_id
    assert new_config(reversed(ICONS)).signs == config.signs  # in whichever order they come


def test_a_config_survives_the_disk(tmp_path: Path) -> None:
    config = new_config(ICONS, **SIZES)
    config.save_pretrained(tmp_path)
    read = StarterConfig.from_pretrained(tmp_path)
    for name in (*SIZES, "signs", "characters", "first_place", "vocab_size", "is_encoder_decoder"):
        assert getattr(read, name) == getattr(config, name)


def test_the_auto_classes_find_it_and_nothing_is_lost() -> None:
    register()
    register()  # twice does no harm
    directory = starter_directory()
    assert isinstance(AutoConfig.from_pretrained(directory), StarterConfig)
    loaded = AutoModelForImageTextToText.from_pretrained(directory)
    assert isinstance(loaded, StarterModel)
    wanted = tiny_starter().state_dict()
    assert loaded.state_dict().keys() == wanted.keys()
    assert all(torch.equal(each, wanted[name]) for name, each in loaded.state_dict().items())
    inputs = {"input_ids": padded(["Go"]), "pixel_values": screens(1)}
    answers = {"decoder_input_ids": padded(["<tap>"])}
    with torch.no_grad():
        found, first = loaded(**inputs, **answers), tiny_starter()(**inputs, **answers)
    torch.testing.assert_close(found.logits, first.logits, atol=1e-5, rtol=0)
