"""A Qwen2.5-VL of the published 3B sizes with random weights, for measurements only.

There is nothing to download: the sizes are written here, the weights are drawn on the GPU, and the
tokenizer is trained on the spot. So its words are not Qwen's, but the shapes of all tensors are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from distrl.agent.families.model_family import ModelParts
from distrl.agent.families.qwen_vl import QWEN2_VL
from distrl.agent.model_directory import OpenedModel

HF: Any = transformers
SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
SENTENCES = ["Tap, swipe, type, go back; answer with a tool call: click at 123, 456. Done."]


def random_qwen(directory: Path, device: str) -> OpenedModel:
    """Return the model; only its tokenizer and image settings are written to the directory."""
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(directory)
    HF.Qwen2VLImageProcessorPil(min_pixels=4 * 784, max_pixels=1280 * 784).save_pretrained(
        directory
    )
    config = _config(tokenizer)
    with torch.device(device):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.bfloat16)
        model = HF.Qwen2_5_VLForConditionalGeneration(config)
        torch.set_default_dtype(before)
    builder = QWEN2_VL.input_builder(ModelParts(directory, config))
    return OpenedModel(model.eval(), builder, QWEN2_VL, directory, "screen")


def _tokenizer() -> Any:
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=list(SPECIAL),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    trained.train_from_iterator(SENTENCES, trainer)
    return HF.PreTrainedTokenizerFast(
        tokenizer_object=trained,
        additional_special_tokens=list(SPECIAL),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
    )


def _config(tokenizer: Any) -> Any:
    number = tokenizer.convert_tokens_to_ids
    text = {
        "vocab_size": 151_936,
        "hidden_size": 2048,
        "intermediate_size": 11_008,
        "num_hidden_layers": 36,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "max_position_embeddings": 32_768,
        "tie_word_embeddings": True,
        "pad_token_id": number("<|endoftext|>"),
        "eos_token_id": number("<|im_end|>"),
        "bos_token_id": None,
        "rope_parameters": {
            "rope_type": "default", "mrope_section": [16, 24, 24], "rope_theta": 1e6,
        },
    }  # fmt: skip
    vision = {
        "depth": 32,
        "hidden_size": 1280,
        "intermediate_size": 3420,
        "out_hidden_size": 2048,
        "num_heads": 16,
        "patch_size": 14,
        "window_size": 112,
        "fullatt_block_indexes": [7, 15, 23, 31],
    }
    return HF.Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
        tie_word_embeddings=True,
    )
