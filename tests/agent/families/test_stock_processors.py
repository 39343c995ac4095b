"""Our inputs against those of the families' own processors, tensor by tensor.

Those of Qwen-VL and InternVL want a video processor, which needs torchvision; here they are made
without one. (SmolVLM's wants a package that spells numbers; its pictures are Idefics3's.)
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
import torch
import transformers
from tests.agent.made_up_screens import LONG, SHORT, TWO_SCREENS, blocks
from tests.agent.tiny_models import BUILDERS, tiny_model
from transformers.processing_utils import ProcessorMixin

from distrl.agent.model_directory import open_model
from distrl.agent.prompt import Prompt

HF: Any = transformers
PROMPTS = (SHORT, LONG, TWO_SCREENS, Prompt("Be brief.", "Now?", (blocks(9, 300, 101),)))


def without_video(processor_class: Any, **attributes: Any) -> Any:
    """A processor of that class whose constructor asks for no video processor."""

    def __init__(self: Any, image_processor: Any = None, tokenizer: Any = None) -> None:  # noqa: N807
        ProcessorMixin.__init__(self, image_processor, tokenizer)  # type: ignore[no-untyped-call]
        self.__dict__.update(attributes)

    return type(processor_class.__name__, (processor_class,), {"__init__": __init__})


@cache
def stock_processor(model_type: str) -> Any:
    _, tokenizer, pictures = BUILDERS[model_type]()
    number = tokenizer.convert_tokens_to_ids
    tokenizer.padding_side = "left"
    match model_type:
        case "idefics3":
            return HF.Idefics3Processor(pictures, tokenizer, image_seq_len=4)
        case "gemma3":
            for name, token in (("boi", "start_of_image"), ("eoi", "end_of_image")):
                setattr(tokenizer, f"{name}_token", f"<{token}>")
            tokenizer.boi_token_id = number("<start_of_image>")
            tokenizer.image_token, tokenizer.image_token_id = (
                "<image_soft_token>",
                number("<image_soft_token>"),
            )
            return HF.Gemma3Processor(pictures, tokenizer, image_seq_length=4)
        case "internvl":
            tokens = {
                "image_seq_length": 4, "start_image_token": "<img>", "end_image_token": "</img>",
                "image_token": "<IMG_CONTEXT>", "image_token_id": number("<IMG_CONTEXT>"),
                "video_token": "<video>", "video_token_id": -1,
                "start_image_token_id": number("<img>"), "end_image_token_id": number("</img>"),
            }  # fmt: skip
            tokens["multimodal_pattern"] = re.compile("(?P<image><IMG_CONTEXT>)|(?P<video><video>)")
            return without_video(HF.InternVLProcessor, **tokens)(pictures, tokenizer)
        case _:
            stock = HF.Qwen3VLProcessor if model_type == "qwen3_vl" else HF.Qwen2_5_VLProcessor
            tokens = {
                "image_token": "<|image_pad|>", "image_token_id": number("<|image_pad|>"),
                "video_token": "<|video_pad|>", "video_token_id": number("<|video_pad|>"),
            }  # fmt: skip
            return without_video(stock, **tokens)(pictures, tokenizer)


def asked(processor: Any, prompt: Prompt) -> str:
    content = [*[{"type": "image"}] * len(prompt.screens), {"type": "text", "text": prompt.text}]
    messages: list[Any] = [{"role": "user", "content": content}]
    if prompt.system:
        system = [{"type": "text", "text": prompt.system}]
        messages.insert(0, {"role": "system", "content": system})
    template = processor.tokenizer.chat_template
    return str(
        processor.tokenizer.apply_chat_template(
            messages, chat_template=template, tokenize=False, add_generation_prompt=True
        )
    )


@pytest.mark.filterwarnings("ignore:__array_wrap__")  # InternVL's own, in transformers 5.17
@pytest.mark.parametrize(
    "model_type", ["qwen2_vl", "qwen2_5_vl", "qwen3_vl", "idefics3", "gemma3", "internvl"]
)
def test_inputs_are_those_of_the_familys_own_processor(model_type: str) -> None:
    processor = stock_processor(model_type)
    texts = [asked(processor, prompt) for prompt in PROMPTS]
    begins = processor.tokenizer.bos_token
    stock = processor(
        text=texts,
        images=[[screen.pixels for screen in prompt.screens] for prompt in PROMPTS],
        padding=True,
        add_special_tokens=not (begins and texts[0].startswith(begins)),
        return_tensors="pt",
    )
    ours = open_model(tiny_model(model_type)).input_builder.build(PROMPTS).tensors
    assert set(ours) == set(stock) - {"pixel_attention_mask"}
    for name, tensor in ours.items():
        expected = stock[name].to(tensor.dtype)
        rounding = 2e-6 if tensor.is_floating_point() else 0.0
        torch.testing.assert_close(tensor, expected, atol=rounding, rtol=0.0)
    if "pixel_attention_mask" in stock:  # the model takes it for granted that tiles are whole
        whole = stock["pixel_attention_mask"].flatten(2).all(-1)
        assert torch.equal(whole, ours["pixel_values"].flatten(2).any(-1))
