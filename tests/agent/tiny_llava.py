"""A tiny LLaVA with random weights, a family that DistRL has not: for tests of registered ones."""

from __future__ import annotations

from pathlib import Path

import torch
from tests.agent.tiny_models import HF, enliven, text_settings, tiny_tokenizer

EDGE, PATCH = 56, 14
TOKENS = ("<unk>", "<s>", "</s>", "<image>")
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] | upper }}: "
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}<image>\n"
    "{% else %}{{ part['text'] }}{% endif %}{% endfor %} {% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


def write_llava(directory: Path) -> Path:
    """Save one, as a download from the hub would lie there."""
    tokenizer = tiny_tokenizer(
        TOKENS, TEMPLATE, bos_token="<s>", eos_token="</s>", pad_token="<unk>"
    )
    config = HF.LlavaConfig(
        text_config=text_settings(tokenizer, model_type="llama"),
        vision_config={
            "model_type": "clip_vision_model", "hidden_size": 32, "intermediate_size": 64,
            "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": EDGE,
            "patch_size": PATCH,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=(EDGE // PATCH) ** 2,
        tie_word_embeddings=False,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = HF.LlavaForConditionalGeneration(config)
        enliven(model)
    square = {"height": EDGE, "width": EDGE}
    processor = HF.CLIPImageProcessorPil(size={"shortest_edge": EDGE}, crop_size=square)
    for part in (model, tokenizer, processor):
        part.save_pretrained(directory)
    return directory
