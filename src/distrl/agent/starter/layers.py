"""Plain transformer layers of the starter: pre-norm, residual, multi-head attention."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

KeysAndValues = tuple[Tensor, Tensor]  # each [n, heads, length, width / heads]


class Attention(nn.Module):
    """Queries from one sequence, keys and values from another (or the same)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.o_proj = nn.Linear(width, width)

    def keys_and_values(self, memory: Tensor) -> KeysAndValues:
        return self._split(self.k_proj(memory)), self._split(self.v_proj(memory))

    def forward(
        self, states: Tensor, memory: KeysAndValues, mask: Tensor | None, *, causal: bool = False
    ) -> Tensor:
        """`mask` is True where a key may be attended to: [n, 1, queries or 1, keys]."""
        keys, values = memory
        found = functional.scaled_dot_product_attention(
            self._split(self.q_proj(states)), keys, values, attn_mask=mask, is_causal=causal
        )
        joined: Tensor = self.o_proj(found.transpose(1, 2).flatten(2))
        return joined

    def of_one(self, state: Tensor, memory: KeysAndValues, mask: Tensor) -> Tensor:
        """As `forward` for one query, as plain matrix products that read keys and values once."""
        keys, values = memory
        query = self._split(self.q_proj(state)) * keys.shape[-1] ** -0.5  # [n, heads, 1, …]
        alike = (query @ keys.transpose(2, 3)).masked_fill(~mask, -torch.inf)
        found = alike.softmax(-1) @ values
        joined: Tensor = self.o_proj(found.transpose(1, 2).flatten(2))
        return joined

    def _split(self, states: Tensor) -> Tensor:
        count, length, width = states.shape
        return states.view(count, length, self.heads, width // self.heads).transpose(1, 2)


class FeedForward(nn.Module):
    """A two-layer MLP on each state by itself, with a hidden layer four times as wide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up_proj = nn.Linear(width, 4 * width)
        self.down_proj = nn.Linear(4 * width, width)

    def forward(self, states: Tensor) -> Tensor:
        out: Tensor = self.down_proj(functional.gelu(self.up_proj(states)))
        return out


class EncoderLayer(nn.Module):
    """Bidirectional self-attention, then the MLP."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normed = self.attention_norm(states)
        states = states + self.attention(normed, self.attention.keys_and_values(normed), mask)
        out: Tensor = states + self.feed_forward(self.forward_norm(states))
        return out


class DecoderLayer(nn.Module):
    """Causal self-attention over the answer so far, cross-attention to the memory, then the MLP."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.memory_norm = nn.LayerNorm(width)
        self.memory_attention = Attention(width, heads)
        self.forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width)

    def forward(
        self,
        states: Tensor,
        memory: KeysAndValues,
        memory_mask: Tensor,
        past: KeysAndValues | None,
    ) -> tuple[Tensor, KeysAndValues]:
        """Return the new states, and the keys and values of the answer so far (the cache)."""
        normed = self.attention_norm(states)
        keys, values = self.attention.keys_and_values(normed)
        if past is not None:
            keys, values = torch.cat((past[0], keys), 2), torch.cat((past[1], values), 2)
        causal = past is None and states.shape[1] > 1
        states = states + self.attention(normed, (keys, values), None, causal=causal)
        normed = self.memory_norm(states)
        states = states + self.memory_attention(normed, memory, memory_mask)
        return states + self.feed_forward(self.forward_norm(states)), (keys, values)

    def extend(
        self,
        states: Tensor,  # [n, 1, width]: of one token
        memory: KeysAndValues,
        memory_mask: Tensor,
        answer: KeysAndValues,  # buffers for the longest answer; this token's are written to them
        place: Tensor,  # [1]: of this token
        seen: Tensor,  # [1, 1, 1, tokens]: up to this one
    ) -> Tensor:
        """As `forward` for one token, with all tensors at fixed addresses, for a CUDA graph."""
        normed = self.attention_norm(states)
        for kept, new in zip(answer, self.attention.keys_and_values(normed), strict=True):
            kept.index_copy_(2, place, new)
        states = states + self.attention.of_one(normed, answer, seen)
        normed = self.memory_norm(states)
        states = states + self.memory_attention.of_one(normed, memory, memory_mask)
        out: Tensor = states + self.feed_forward(self.forward_norm(states))
        return out
