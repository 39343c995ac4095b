"""Attention over sequences that lie end to end in one row, without padding between them.

Transformers calls it by name (`use_packed_attention` sets it), in two situations:
- vision towers and packed prompts hand over where each sequence begins (`cu_seq_lens_q`). On a GPU
  in half precision one flash-attention kernel computes all of them; elsewhere each sequence is
  computed by itself, which is the reference that tests compare with.
- a token that is decoded against kept keys and values hands over a mask of the places that are in
  use. Query heads that share a key head are computed together, so that no key is copied.

The name contains "flash" because transformers passes the beginnings of windows to such functions
alone, where it would otherwise call attention once for each window (300 ms in place of 90 for eight
screens in Qwen2.5-VL-3B on an H200).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from distrl.errors import UsageError

NAME = "distrl_packed_flash"
HALF = (torch.bfloat16, torch.float16)


def use_packed_attention(*configs: Any) -> None:
    """Models with these configs compute their attention here from now on."""
    AttentionInterface.register(NAME, attend)
    for config in configs:
        config._attn_implementation = NAME


def attend(
    module: Any,
    query: Tensor,  # [1, heads, tokens, width], or [n, heads, 1, width] to decode
    key: Tensor,  # [1, key heads, tokens, width], or [n, key heads, places, width]
    value: Tensor,
    attention_mask: Tensor | None,  # [n, 1, 1, places] to decode, else none
    scaling: float | None = None,
    cu_seq_lens_q: Tensor | None = None,  # [sequences + 1], on the model's device
    max_length_q: int | Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:  # [1 or n, tokens, heads, width]
    """The signature of transformers' attention functions."""
    if attention_mask is not None:
        return _decoded(query, key, value, attention_mask, scaling), None
    groups = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(groups, dim=1) for each in (key, value))
    if cu_seq_lens_q is None:
        return _alone(query, key, value, module.is_causal, scaling), None
    packed = [each[0].transpose(0, 1) for each in (query, key, value)]  # [tokens, heads, width]
    if query.is_cuda and query.dtype in HALF:
        longest = int(cast("int", max_length_q))
        found = _varlen(packed, cu_seq_lens_q, longest, module.is_causal, scaling)
    else:
        found = _one_by_one(packed, cu_seq_lens_q, module.is_causal, scaling)
    return found.unsqueeze(0), None


def _alone(query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float | None) -> Tensor:
    """One sequence, of a caller that knows nothing of packing: `generate`, a plain forward pass."""
    if len(query) > 1:
        raise UsageError(
            f"{len(query)} rows at once for a model whose attention takes packed sequences; call "
            'it through its policy, one row at a time, or after set_attn_implementation("sdpa")'
        )
    found = scaled_dot_product_attention(
        query, key, value, is_causal=causal and query.shape[2] > 1, scale=scale
    )
    return found.transpose(1, 2)


def _varlen(
    packed: Sequence[Tensor], begins: Tensor, longest: int, causal: bool, scale: float | None
) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    begins = begins.to(torch.int32)
    window = (-1, 0) if causal else (-1, -1)
    query, key, value = packed
    found = varlen_attn(
        query, key, value, begins, begins, longest, longest, scale=scale, window_size=window
    )
    return cast("Tensor", found)


def _one_by_one(
    packed: Sequence[Tensor], begins: Tensor, causal: bool, scale: float | None
) -> Tensor:
    query, key, value = (each.transpose(0, 1) for each in packed)  # [heads, tokens, width]
    found = [
        scaled_dot_product_attention(
            query[:, first:end],
            key[:, first:end],
            value[:, first:end],
            is_causal=causal,
            scale=scale,
        )
        for first, end in pairwise(begins.tolist())
    ]
    return torch.cat(found, dim=1).transpose(0, 1)


def _decoded(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float | None
) -> Tensor:
    rows, heads, _, width = query.shape
    grouped = query.reshape(rows, key.shape[1], -1, width)  # [n, key heads, group, width]
    found = scaled_dot_product_attention(grouped, key, value, attn_mask=mask, scale=scale)
    return found.reshape(rows, 1, heads, width)
