"""Tiny models of every family, with random weights, saved as any user's model would be.

Each is a directory with config.json, safetensors, a tokenizer that was trained on the spot and the
settings of the family's own image processor: what a download from the hub consists of. Made once a
test session. The weights are larger than usual at the start of training, so that pictures and words
change the logits by much more than rounding does.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from distrl.agent.families.auto_ui import AutoUiConfig, AutoUiForConditionalGeneration

HF: Any = transformers  # its configs are typed by fields, not by what their calls take
TinyParts = tuple[Any, PreTrainedTokenizerFast, Any]  # model, tokenizer, image processor

SENTENCES = [
    "tap swipe type back home enter open wait answer done impossible",
    'You operate a phone. Goal: add a note "Milk, eggs". What now? {"action": "click"}',
    "Previous actions: 1. tap 0.52 0.13 2. type hello world 3. open Notes Settings Clock Mail",
    "The quick brown fox jumps over the lazy dog. 0123456789 <>[](){}:;,.!?'\"",
]
QWEN_TOKENS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
IDEFICS_TOKENS = (
    "<|endoftext|>", "<|im_start|>", "<end_of_utterance>", "<image>", "<fake_token_around_image>",
    "<global-img>", *(f"<row_{row}_col_{column}>" for row in (1, 2, 3) for column in (1, 2, 3)),
)  # fmt: skip
GEMMA_TOKENS = (
    "<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>",
    "<image_soft_token>", "<end_of_image>",
)  # fmt: skip
INTERN_TOKENS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<img>", "</img>", "<IMG_CONTEXT>",
)  # fmt: skip
LANGUAGE_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
T5_TOKENS = ("<pad>", "</s>", "<unk>")

LANGUAGE_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
QWEN_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
IDEFICS_TEMPLATE = (
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}"
    "{% if message['content'][0]['type'] == 'image' %}{{ ':' }}{% else %}{{ ': ' }}{% endif %}"
    "{% for line in message['content'] %}{% if line['type'] == 'text' %}{{ line['text'] }}"
    "{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}"
    "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
GEMMA_TEMPLATE = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{% set first = messages[0]['content'][0]['text'] + '\n\n' %}{% set rest = messages[1:] %}"
    "{% else %}{% set first = '' %}{% set rest = messages %}{% endif %}"
    "{% for message in rest %}<start_of_turn>{{ message['role'] }}\n{{ first if loop.first }}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}<start_of_image>"
    "{% else %}{{ part['text'] | trim }}{% endif %}{% endfor %}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
INTERN_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}<IMG_CONTEXT>\n"
    "{% else %}{{ part['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_tokenizer(
    tokens: tuple[str, ...], template: str | None = None, **named: Any
) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer that can write anything, with these special tokens first."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trained.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=list(tokens),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer: PreTrainedTokenizerFast = HF.PreTrainedTokenizerFast(
        tokenizer_object=trained, additional_special_tokens=list(tokens), **named
    )
    if template:
        tokenizer.chat_template = template
    return tokenizer


def beginning(tokenizer: PreTrainedTokenizerFast) -> PreTrainedTokenizerFast:
    """One that adds its begin token by itself, as Gemma's does."""
    begin = str(tokenizer.bos_token)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A", special_tokens=[(begin, tokenizer.bos_token_id)]
    )
    return tokenizer


def text_settings(tokenizer: PreTrainedTokenizerFast, **more: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        **more,
    }


def qwen_vl(version: str) -> TinyParts:
    tokenizer = tiny_tokenizer(
        QWEN_TOKENS, QWEN_TEMPLATE, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    number = tokenizer.convert_tokens_to_ids
    pictures = {
        "image_token_id": number("<|image_pad|>"),
        "video_token_id": number("<|video_pad|>"),
        "vision_start_token_id": number("<|vision_start|>"),
        "vision_end_token_id": number("<|vision_end|>"),
    }
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": 1e4}
    vision: dict[str, Any] = {"depth": 2, "num_heads": 4, "patch_size": 14}
    wide = {"hidden_size": 32, "intermediate_size": 64, "out_hidden_size": 64}
    if version == "3":
        rope |= {"mrope_section": [3, 3, 2], "mrope_interleaved": True}
        vision |= wide | {"patch_size": 16, "num_position_embeddings": 256}
        vision["deepstack_visual_indexes"] = [0, 1]
        text = text_settings(tokenizer, head_dim=16, rope_parameters=rope)
        model = HF.Qwen3VLForConditionalGeneration(
            HF.Qwen3VLConfig(
                text_config=text, vision_config=vision, tie_word_embeddings=False, **pictures
            )
        )
    elif version == "2.5":
        text = text_settings(tokenizer, rope_parameters=rope | {"mrope_section": [2, 3, 3]})
        vision |= wide | {"fullatt_block_indexes": [1], "window_size": 56}
        model = HF.Qwen2_5_VLForConditionalGeneration(
            HF.Qwen2_5_VLConfig(
                text_config=text, vision_config=vision, tie_word_embeddings=False, **pictures
            )
        )
    else:
        text = text_settings(tokenizer, rope_parameters=rope | {"mrope_section": [2, 3, 3]})
        vision |= {"embed_dim": 32, "hidden_size": 64, "mlp_ratio": 2}
        model = HF.Qwen2VLForConditionalGeneration(
            HF.Qwen2VLConfig(
                text_config=text, vision_config=vision, tie_word_embeddings=False, **pictures
            )
        )
    processor = HF.Qwen2VLImageProcessorPil(
        patch_size=vision["patch_size"],
        size={"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 32},
    )
    return model, tokenizer, processor


def idefics(name: str) -> TinyParts:
    tokenizer = tiny_tokenizer(
        IDEFICS_TOKENS, IDEFICS_TEMPLATE, bos_token="<|im_start|>",
        eos_token="<end_of_utterance>", pad_token="<|endoftext|>",
    )  # fmt: skip
    settings: dict[str, Any] = {
        "text_config": text_settings(tokenizer, model_type="llama"),
        "vision_config": {
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": 56, "patch_size": 14,
        },
        "image_token_id": tokenizer.convert_tokens_to_ids("<image>"),
        "pad_token_id": tokenizer.pad_token_id,
        "scale_factor": 2,
        "tie_word_embeddings": False,
    }  # fmt: skip
    sizes: dict[str, Any] = {"size": {"longest_edge": 112}, "max_image_size": {"longest_edge": 56}}
    if name == "smolvlm":
        return (
            HF.SmolVLMForConditionalGeneration(HF.SmolVLMConfig(**settings)),
            tokenizer,
            HF.SmolVLMImageProcessorPil(**sizes),
        )
    return (
        HF.Idefics3ForConditionalGeneration(HF.Idefics3Config(**settings)),
        tokenizer,
        HF.Idefics3ImageProcessorPil(**sizes),
    )


def gemma() -> TinyParts:
    tokenizer = beginning(
        tiny_tokenizer(
            GEMMA_TOKENS, GEMMA_TEMPLATE, pad_token="<pad>", eos_token="<eos>", bos_token="<bos>"
        )
    )
    number = tokenizer.convert_tokens_to_ids
    config = HF.Gemma3Config(
        text_config=text_settings(tokenizer, head_dim=16, sliding_window=64),
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": 56, "patch_size": 14,
        },
        mm_tokens_per_image=4,
        boi_token_index=number("<start_of_image>"),
        eoi_token_index=number("<end_of_image>"),
        image_token_index=number("<image_soft_token>"),
        tie_word_embeddings=False,
    )  # fmt: skip
    processor = HF.Gemma3ImageProcessorPil(size={"height": 56, "width": 56})
    return HF.Gemma3ForConditionalGeneration(config), tokenizer, processor


def intern_vl() -> TinyParts:
    tokenizer = tiny_tokenizer(
        INTERN_TOKENS, INTERN_TEMPLATE, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    config = HF.InternVLConfig(
        text_config=text_settings(tokenizer, model_type="qwen2"),
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": [56, 56], "patch_size": [14, 14],
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        downsample_ratio=0.5,
        tie_word_embeddings=False,
    )  # fmt: skip
    processor = HF.GotOcr2ImageProcessorPil(size={"height": 56, "width": 56})
    return HF.InternVLForConditionalGeneration(config), tokenizer, processor


def auto_ui() -> TinyParts:
    tokenizer = tiny_tokenizer(T5_TOKENS, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    config = AutoUiConfig(
        text_config={
            "vocab_size": len(tokenizer), "d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 2,
            "num_heads": 4, "dropout_rate": 0.0, "pad_token_id": tokenizer.pad_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": 56, "patch_size": 14,
        },
    )  # fmt: skip
    processor = HF.BlipImageProcessorPil(size={"height": 56, "width": 56})
    return AutoUiForConditionalGeneration(config), tokenizer, processor


def language(name: str) -> TinyParts:
    """A causal language model: tied or not, with a template for words alone or none at all."""
    tokenizer = tiny_tokenizer(
        LANGUAGE_TOKENS,
        None if name == "gpt2" else LANGUAGE_TEMPLATE,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
    )
    settings = text_settings(tokenizer, tie_word_embeddings=name == "llama")
    if name == "gpt2":
        sizes = {"n_positions": 4096, "n_embd": 64, "n_layer": 2, "n_head": 4}
        config = HF.GPT2Config(**{**settings, **sizes, "tie_word_embeddings": True})
        return HF.GPT2LMHeadModel(config), tokenizer, None
    config, kind = {
        "llama": (HF.LlamaConfig, HF.LlamaForCausalLM),
        "qwen2": (HF.Qwen2Config, HF.Qwen2ForCausalLM),
        "granite": (HF.GraniteConfig, HF.GraniteForCausalLM),
    }[name]
    scaled = {"logits_scaling": 4.0} if name == "granite" else {}
    return kind(config(**settings, **scaled)), tokenizer, None


LANGUAGE_BUILDERS: dict[str, Callable[[], TinyParts]] = {
    name: partial(language, name) for name in ("llama", "qwen2", "gpt2", "granite")
}
BUILDERS: dict[str, Callable[[], TinyParts]] = {
    "qwen2_vl": lambda: qwen_vl("2"),
    "qwen2_5_vl": lambda: qwen_vl("2.5"),
    "qwen3_vl": lambda: qwen_vl("3"),
    "idefics3": lambda: idefics("idefics3"),
    "smolvlm": lambda: idefics("smolvlm"),
    "gemma3": gemma,
    "internvl": intern_vl,
    "auto_ui": auto_ui,
}


@cache
def _session_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="distrl-tiny-models-")


@cache
def tiny_model(model_type: str) -> Path:
    """The directory of a tiny model. Do not write into it; copy it first."""
    directory = Path(_session_folder().name) / model_type
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model, tokenizer, processor = (BUILDERS | LANGUAGE_BUILDERS)[model_type]()
        enliven(model)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    if processor is not None:
        processor.save_pretrained(directory)
    return directory


def enliven(model: Any) -> None:
    """Weights with some life in them: what is random and near zero hears and says nothing."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim >= 2:
                parameter.normal_(0.0, 0.7 / parameter[0].numel() ** 0.5)
            elif name.endswith("bias"):
                parameter.normal_(0.0, 0.1)


def change_json(file: Path, **changes: Any) -> None:
    """Change settings in a JSON file of a copied model; None takes one out."""
    content = {**json.loads(file.read_text("utf-8")), **changes}
    file.write_text(json.dumps({k: v for k, v in content.items() if v is not None}), "utf-8")
