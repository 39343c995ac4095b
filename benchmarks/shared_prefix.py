"""Measure the time saved by encoding the shared system prompt once, on a CPU.

    make bench-shared-prefix ARGS="--tokenizer FILE"

Two models of some 6 million random weights, Qwen2.5-VL (packed) and Llama (padded), read 4 prompts
as long as those of the dialect `qwen2_5_vl` for a screen of the simulated phone and generate 24
tokens for each, with and without the shared prefix. Timed in turns, on one thread, in CPU time;
ratios are of medians. The features of pictures are given, as those of known screens are: a new
picture costs the vision tower in addition, with and without. `--tokenizer` (a tokenizer.json)
counts the tokens of such prompts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer
from torch import Tensor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from benchmarks.results_file import make_command, write_results
from distrl.agent.architectures.decoder_only import DecoderOnly
from distrl.agent.architectures.packed_decoder import FEATURES, PackedDecoder
from distrl.agent.dialects import dialect_named
from distrl.agent.prompt import Prompter
from distrl.records import Observation, Screen, Tap

HF: Any = transformers
ROWS, ANSWER, PAIRS = 4, 24, 5
PREFIX, REST = 538, 46  # tokens before the picture, and after it: see `counted`
SCREENS = {"simulated": (720, 360), "handset": (2400, 1080)}  # height and width
SQUARE, MOST = 28, 1280  # pixels of an image token's edge; most image tokens of a picture
IMAGE, WORDS = 3, 4000  # id of the image token; size of the vocabulary
TEXT = {
    "vocab_size": WORDS, "hidden_size": 256, "intermediate_size": 704, "num_hidden_layers": 6,
    "num_attention_heads": 8, "num_key_value_heads": 2, "max_position_embeddings": 4096,
    "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2,
}  # fmt: skip


def grid(height: int, width: int) -> tuple[int, int]:
    """Return a screen's grid of image tokens, as the published Qwen2.5-VL sees it."""
    rows, columns = smart_resize(
        height, width, factor=SQUARE, min_pixels=4 * SQUARE**2, max_pixels=MOST * SQUARE**2
    )
    return rows // SQUARE, columns // SQUARE


def qwen() -> PackedDecoder:
    rope = {"rope_type": "default", "mrope_section": [4, 6, 6], "rope_theta": 1e6}
    config = HF.Qwen2_5_VLConfig(
        text_config={**TEXT, "rope_parameters": rope},
        vision_config={"depth": 1, "hidden_size": 32, "out_hidden_size": 256, "num_heads": 2},
        image_token_id=IMAGE,
        video_token_id=IMAGE + 1,
        vision_start_token_id=IMAGE + 2,
        vision_end_token_id=IMAGE + 3,
    )
    return PackedDecoder(HF.Qwen2_5_VLForConditionalGeneration(config).eval(), stand_in=0)


def llama() -> DecoderOnly:
    return DecoderOnly(HF.LlamaForCausalLM(HF.LlamaConfig(**TEXT)).eval(), stand_in=0)


def prompts(*, pictures: bool) -> dict[str, Tensor]:
    """Return prompts with a common prefix; without pictures, words stand in their place."""
    down, across = grid(*SCREENS["simulated"])
    ids = torch.randint(10, WORDS, (ROWS, PREFIX + down * across + REST))
    ids[:, :PREFIX] = ids[0, :PREFIX]
    found = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if pictures:
        ids[:, PREFIX : PREFIX + down * across] = IMAGE
        found["mm_token_type_ids"] = (ids == IMAGE).long()
        found["image_grid_thw"] = torch.tensor([[1, 2 * down, 2 * across]] * ROWS)
        found[FEATURES] = torch.randn(ROWS * down * across, TEXT["hidden_size"])
    return found


@torch.inference_mode()
def compared(model: DecoderOnly, inputs: dict[str, Tensor]) -> dict[str, float]:
    """Compare CPU seconds of reading the prompts and of deciding, with and without the prefix."""
    known = model.read_prefix(inputs["input_ids"][0, :PREFIX])
    seconds: dict[str, list[float]] = {}
    for prefix in (None, known) * (PAIRS + 1):
        began = time.process_time()
        decoding = model.begin(inputs, ANSWER, prefix)
        read = time.process_time()
        for _ in range(ANSWER - 1):
            decoding.step(decoding.logits.argmax(-1))
        arm = "whole" if prefix is None else "shared"
        seconds.setdefault(f"read_{arm}", []).append(read - began)
        seconds.setdefault(f"decide_{arm}", []).append(time.process_time() - began)
    medians = {
        name: statistics.median(each[1:]) for name, each in seconds.items()
    }  # the first warms up, so it is left out
    return {
        "read_ratio": medians["read_shared"] / medians["read_whole"],
        "decide_ratio": medians["decide_shared"] / medians["decide_whole"],
        "read_whole_s": medians["read_whole"],
        "decide_whole_s": medians["decide_whole"],
    }


def counted(tokenizer: Path) -> dict[str, float]:
    """Count the tokens of `qwen2_5_vl` prompts before the picture, and their share of all."""
    words, prompter = Tokenizer.from_file(str(tokenizer)), Prompter(dialect_named("qwen2_5_vl"))
    figures: dict[str, float] = {}
    for name, (height, width) in SCREENS.items():
        down, across = grid(height, width)
        screen = Screen(np.zeros((height, width, 3), np.uint8))
        for past in (0, 4):
            seen = Observation("Set an alarm for 7:30", screen, (Tap(0.5, 0.5),) * past)
            prompt = prompter.write(seen)
            before = f"<|im_start|>system\n{prompt.system}<|im_end|>\n<|im_start|>user\n"
            after = f"{prompt.text}<|im_end|>\n<|im_start|>assistant\n"
            first, last = (len(words.encode(each).ids) for each in (before, after))
            figures["prefix_tokens"] = first
            figures[f"prefix_share_{name}_{past}_past"] = first / (first + down * across + 2 + last)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokenizer", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    figures = counted(chosen.tokenizer) if chosen.tokenizer else {}
    for name, model, pictures in (("qwen", qwen(), True), ("llama", llama(), False)):
        found = compared(model, prompts(pictures=pictures))
        figures |= {f"{name}_{figure}": value for figure, value in found.items()}
    for figure, value in figures.items():
        print(f"{figure:36} {value:.3g}")
    print(write_results("shared-prefix", figures, make_command("bench-shared-prefix")))


if __name__ == "__main__":
    main()
