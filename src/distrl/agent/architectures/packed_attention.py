"""Attention over packed sequences: end to end in one row, without padding between them.

Transformers calls it by name (`use_packed_attention` sets it), in two situations:
- Vision towers and packed prompts pass where each sequence begins (`cu_seq_lens_q`). On a GPU in
  half precision one flash-attention kernel computes all of them; elsewhere each sequence is
  computed by itself, which is the reference that tests compare with.
- A token that is decoded against cached keys and values passes a mask of the places that are in
  use. Query heads that share a key head are computed together, so that no key is copied.

The name contains "flash" because transformers passes the boundaries of windows only to functions
with such a name; for others it calls attention once for each window (300 ms in place of 90 for
eight screens in Qwen2.5-VL-3B on an H200).
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
    """Register `attend` with transformers and select it for models with these configs."""
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
    cu_seq_lens_k: Tensor | None = None,  # if there are more keys, the queries are at their end
    max_length_q: int | Tensor | None = None,
    max_length_k: int | Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:  # [1 or n, tokens, heads, width]
    """Compute attention, with the signature of transformers' attention functions."""
    if attention_mask is not None:
        return _decoded(query, key, value, attention_mask, scaling), None
    groups = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(groups, dim=1) for each in (key, value))
    if cu_seq_lens_q is None:
        return _alone(query, key, value, module.is_causal, scaling), None
    packed = [each[0].transpose(0, 1) for each in (query, key, value)]  # [tokens, heads, width]
    begins = cu_seq_lens_q, cu_seq_lens_q if cu_seq_lens_k is None else cu_seq_lens_k
    if query.is_cuda and query.dtype in HALF:
        longest = max_length_q, max_length_q if max_length_k is None else max_length_k
        found = _varlen(packed, begins, longest, module.is_causal, scaling)
    else:
        found = _one_by_one(packed, begins, module.is_causal, scaling)
    return found.unsqueeze(0), None


def _alone(query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float | None) -> Tensor:
    """Attend within one sequence, for callers that do not pack: `generate`, a plain forward."""
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
    packed: Sequence[Tensor],
    begins: tuple[Tensor, Tensor],
    longest: tuple[Any, Any],
    causal: bool,
    scale: float | None,
) -> Tensor:
    """Flash attention aligns the last query with the last key, also where there are more keys."""
    from torch.nn.attention.varlen import varlen_attn

    window = (-1, 0) if causal else (-1, -1)
    query, key, value = packed
    cu_seqlens_q, cu_seqlens_k = (each.to(torch.int32) for each in begins)
    max_q, max_k = (int(each) for each in longest)
    found = varlen_attn(
        query, key, value, cu_seqlens_q, cu_seqlens_k, max_q, max_k, scale=scale, window_size=window
    )
    return cast("Tensor", found)


def _one_by_one(
    packed: Sequence[Tensor], begins: tuple[Tensor, Tensor], causal: bool, scale: float | None
) -> Tensor:
    query, key, value = (each.transpose(0, 1) for each in packed)  # [heads, tokens, width]
    found = []
    cu_seqlens_q, cu_seqlens_k = (each.tolist() for each in begins)
    for of_q, of_k in zip(pairwise(cu_seqlens_q), pairwise(cu_seqlens_k), strict=True):
        queries, keys = of_q[1] - of_q[0], of_k[1] - of_k[0]
        before = keys - queries  # keys of a prefix
        seen = (
            torch.ones(queries, keys, dtype=torch.bool).tril(before) if causal and before else None
        )
        found.append(
            scaled_dot_product_attention(
                query[:, slice(*of_q)],
                key[:, slice(*of_k)],
                value[:, slice(*of_k)],
                attn_mask=None if seen is None else seen.to(query.device),
                is_causal=causal and not before,
                scale=scale,
            )
        )
    return torch.cat(found, dim=1).transpose(0, 1)


def _decoded(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float | None
) -> Tensor:
    rows, heads, _, width = query.shape
    grouped = query.reshape(rows, key.shape[1], -1, width)  # [n, key heads, group, width]
    found = scaled_dot_product_attention(grouped, key, value, attn_mask=mask, scale=scale)
    return found.reshape(rows, 1, heads, width)
