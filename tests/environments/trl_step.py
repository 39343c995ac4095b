"""One real step of TRL's GRPOTrainer on the phone, with a model that calls a tool by construction.

A tiny Qwen3 whose layers add nothing, so that each token alone decides the next: after the prompt
it opens the clock, whatever it is told. So the step goes through everything of TRL's: tools
described in the prompt, calls parsed, carried out on the phone, answered, and a gradient taken.
"""

from __future__ import annotations

import runpy
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

HF: Any = transformers
EXAMPLE = Path(__file__).parents[2] / "examples/trl_grpo.py"
CALL = '\n{"name": "open_app", "arguments": {"app": "Clock"}}\n'
CHAIN = ("\n", "<tool_call>", CALL, "</tool_call>", "<|im_end|>")
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
WIDTH = 64


def one_step(folder: Path) -> int:
    """Train one step; return how many steps the trainer counts. Raises if no tool was called."""
    made = runpy.run_path(str(EXAMPLE), run_name="example")
    trainer = made["trainer"](
        model := tiny_qwen3(tokenizer := qwen3_tokenizer()),
        ["clock.turn_off_alarm/train/1"] * 2,
        tokenizer,
        max_steps=1,
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=3000,
        max_tool_calling_iterations=2,
        output_dir=str(folder),
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
    )
    before = model.lm_head.weight.detach().clone()
    trainer.train()
    played = [each for pool in trainer._environment_pool.values() for each in pool]
    assert max(each.steps for each in played) == 2, "no tool was called"
    assert torch.isfinite(model.lm_head.weight).all()
    assert before.shape == model.lm_head.weight.shape
    return int(trainer.state.global_step)


def qwen3_tokenizer() -> Any:
    import trl

    characters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {each: number for number, each in enumerate(characters)}
    plain = Tokenizer(models.BPE(vocabulary, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    plain.add_special_tokens([AddedToken(each, special=True) for each in SPECIAL])
    plain.add_tokens([AddedToken(each, normalized=False) for each in CHAIN[1:4]])
    tokenizer = HF.PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    templates = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (templates / "qwen3_instruct_2507.jinja").read_text("utf-8")
    return tokenizer


def tiny_qwen3(tokenizer: Any) -> Any:
    """Layers that add nothing, and a head that goes along the chain."""
    config = HF.Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, head_dim=16, max_position_embeddings=16_384,
        tie_word_embeddings=False, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    torch.manual_seed(0)
    model = HF.Qwen3ForCausalLM(config)
    ids = [tokenizer(each)["input_ids"][-1] for each in CHAIN]
    with torch.no_grad():
        layer = model.model.layers[0]
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
        embeddings = torch.nn.functional.normalize(torch.randn(len(tokenizer), WIDTH), dim=1)
        model.model.embed_tokens.weight.copy_(embeddings)
        model.lm_head.weight.zero_()
        for here, after in pairwise(ids):
            model.lm_head.weight[after] = 20.0 * embeddings[here]
    return model
