"""Decoding with a static key-value cache (a slab) and CUDA graphs: one launch for each token.

A slab holds the keys and values of every layer for a fixed number of rows and of places (tokens).
Each row begins at place 0, without padding before a prompt. Packed prompts are written to it as
they are read (`KeyValueSlab.update`), then one token of each row at a time. All sizes are fixed, so
that one step can be recorded as a CUDA graph and replayed: a token of a 3B model takes 2,000
launches, 50 ms of Python for 3 ms of work. There is a graph for 1, 2, 4, … rows, all on one slab.
If a batch needs more, a larger slab replaces it and its graphs are dropped. On a CPU each batch has
a slab of its own size, and each step is computed directly: results do not depend on earlier ones.

The keys and values of a prefix (first tokens that all prompts share) are copied to every row; the
packed tokens are those after the prefix.

`slab` is passed where transformers expects a `Cache`; the models only call its `update`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from distrl.agent.architectures.architecture import PrefixStates
from distrl.agent.cuda_graph import recorded

PLACES_AT_A_TIME = 128  # places are rounded up to a multiple: prompts differ by a few words


class KeyValueSlab:
    """A cache of keys and values for `rows` sequences of at most `places` tokens."""

    def __init__(self, config: Any, rows: int, places: int, like: Tensor) -> None:
        width = getattr(config, "head_dim", None)
        width = width or config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, rows, config.num_key_value_heads, places, width)
        self.keys, self.values = like.new_zeros(shape), like.new_zeros(shape)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=like.device)
        self._places = torch.arange(places, device=like.device)
        self._packed: tuple[Tensor, Tensor] | None = None  # where packed tokens go: rows, places
        self.prefix: PrefixStates | None = None  # comes before the packed tokens in each row
        self._joined = self._places[:0]  # order of prefix and packed tokens, row by row

    @property
    def rows(self) -> int:
        return self.keys.shape[1]

    @property
    def places(self) -> int:
        return self.keys.shape[3]

    @property
    def in_use(self) -> Tensor:  # [rows, places], the token being decoded included
        return self._places <= self.lengths.unsqueeze(1)

    def first(self, rows: int) -> KeyValueSlab:
        """Return a view of the first rows, in the same memory."""
        part = object.__new__(KeyValueSlab)
        part.keys, part.values = self.keys[:, :rows], self.values[:, :rows]
        part.lengths, part._places, part._packed = self.lengths[:rows], self._places, None
        part.prefix, part._joined = None, self._joined
        return part

    def expect(self, lengths: Tensor, prefix: PrefixStates | None = None) -> None:
        """Prepare for an `update` of each layer with packed sequences of these lengths, [n]."""
        rows, places = _rows_and_places(lengths)
        self.prefix = prefix
        if prefix is not None:
            self.keys[:, : len(lengths), :, : len(prefix)] = prefix.keys.unsqueeze(1)
            self.values[:, : len(lengths), :, : len(prefix)] = prefix.values.unsqueeze(1)
            whose, self._joined = _rows_and_places(lengths + len(prefix))
            begins = (lengths.cumsum(0) - lengths)[whose]
            self._joined = self._joined + begins * (self._joined >= len(prefix))
            places = places + len(prefix)
        self._packed = rows, places

    def filled(self, lengths: Tensor) -> None:
        """Mark the prompts as written, with these lengths, prefix included; empty other rows."""
        self._packed, self.prefix = None, None
        self.lengths.zero_()
        self.lengths[: len(lengths)] = lengths

    def update(
        self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Store a layer's keys and values; return those that its tokens attend to."""
        if self._packed is not None:  # [1, heads, tokens, width]
            rows, places = self._packed
            self.keys[layer][rows, :, places] = keys[0].transpose(0, 1).to(self.keys)
            self.values[layer][rows, :, places] = values[0].transpose(0, 1).to(self.keys)
            if self.prefix is None:
                return keys, values
            before = self.prefix.keys[layer].to(keys), self.prefix.values[layer].to(values)
            return (
                torch.cat([before[0].unsqueeze(0), keys], dim=2)[:, :, self._joined],
                torch.cat([before[1].unsqueeze(0), values], dim=2)[:, :, self._joined],
            )
        every = torch.arange(len(keys), device=keys.device)  # [n, heads, 1, width]
        self.keys[layer][every, :, self.lengths] = keys[:, :, 0].to(self.keys)
        self.values[layer][every, :, self.lengths] = values[:, :, 0].to(self.keys)
        return self.keys[layer], self.values[layer]


def _rows_and_places(lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Return each token's sequence and its place in it, for packed sequences of these lengths."""
    rows = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
    begins = lengths.cumsum(0) - lengths
    return rows, torch.arange(len(rows), device=rows.device) - begins[rows]


DecodeToken = Callable[[Tensor, Tensor, KeyValueSlab], Tensor]  # tokens, positions -> logits


class TokenGraphs:
    """The slab of one model and the graphs on it. Use it only in inference mode."""

    def __init__(self, decode: DecodeToken, config: Any) -> None:
        self._decode = decode
        self._config = config
        self._slab: KeyValueSlab | None = None
        self._graphs: dict[int, TokenGraph] = {}

    def begin(
        self,
        lengths: Tensor,  # [n]: of the packed prompts, without the prefix
        longest: int,
        positions: Tensor,
        max_new_tokens: int,
        like: Tensor,
        prefix: PrefixStates | None = None,
    ) -> SlabDecoding:
        known = 0 if prefix is None else len(prefix)
        rows, places = len(lengths), known + longest + max_new_tokens
        if like.is_cuda:
            rows = 1 << (rows - 1).bit_length()
            places = -(-places // PLACES_AT_A_TIME) * PLACES_AT_A_TIME
            return SlabDecoding(self._graph(rows, places, like), lengths, positions, prefix)
        slab = KeyValueSlab(self._config, rows, places, like)
        return SlabDecoding(TokenGraph(self._decode, slab), lengths, positions, prefix)

    def _graph(self, rows: int, places: int, like: Tensor) -> TokenGraph:
        with torch.inference_mode(False):  # these tensors may be used outside inference mode
            slab = self._slab
            if slab is None or slab.rows < rows or slab.places < places:
                most = (rows, places) if slab is None else (slab.rows, slab.places)
                self._graphs, self._slab, slab = {}, None, None  # free the old memory first
                size = max(rows, most[0]), max(places, most[1])
                self._slab = slab = KeyValueSlab(self._config, *size, like)
            if rows not in self._graphs:
                self._graphs[rows] = TokenGraph(self._decode, slab.first(rows))
        return self._graphs[rows]


class TokenGraph:
    """The decoding step of one token for each row of a slab, as a CUDA graph on a GPU."""

    def __init__(self, decode: DecodeToken, slab: KeyValueSlab) -> None:
        self.slab = slab
        self._decode = decode
        self.tokens, self.positions = torch.zeros_like(slab.lengths), torch.zeros_like(slab.lengths)
        self.step = recorded(self._compute) if slab.keys.is_cuda else self._compute

    def _compute(self) -> Tensor:  # [rows, vocabulary]
        logits = self._decode(self.tokens, self.positions, self.slab)
        self.slab.lengths += 1
        self.positions += 1
        return logits


class SlabDecoding:
    """Implements `DecodingState`. Only the latest one is valid: each new one reuses the slab."""

    logits: Tensor  # [n, vocabulary]: set by its maker once the prompts have been read

    def __init__(
        self, graph: TokenGraph, lengths: Tensor, positions: Tensor, prefix: PrefixStates | None
    ) -> None:
        self._graph = graph
        self._rows = torch.arange(len(lengths), device=lengths.device)
        self._lengths = lengths if prefix is None else lengths + len(prefix)
        self._positions = positions
        self.slab = graph.slab
        self.slab.expect(lengths, prefix)

    def read(self, logits: Tensor) -> None:
        """Start decoding: the prompts are in the slab; `logits` are those of the first tokens."""
        self.slab.filled(self._lengths)
        self._graph.positions.zero_()
        self._graph.positions[: len(self._positions)] = self._positions
        self.logits = logits

    def step(self, tokens: Tensor) -> None:
        self._graph.tokens[self._rows] = tokens
        self.logits = self._graph.step()[self._rows]

    def keep(self, rows: Tensor) -> None:
        """Ignore the other rows, but compute them: a step reads all weights for any row count."""
        self._rows = self._rows[rows]
