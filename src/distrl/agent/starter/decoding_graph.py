"""Decoding on a GPU with CUDA graphs: one launch for each token, one graph for each batch size.

A token of the starter takes some hundred small kernels, and the GPU finishes each one before
Python launches the next. So one decoding step is recorded as a CUDA graph, with its inputs at fixed
addresses, and replayed for every token. There is a graph for 8, 16, 32, … rows; a batch uses the
smallest one that holds it. Graphs read the model's weights in place, so they stay valid when the
weights are updated in place.

`StarterModel.decode` is the reference: the logits are the same except for rounding. On a CPU, which
has no graphs, each step is computed directly; that is for tests.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from distrl.agent.cuda_graph import recorded
from distrl.agent.starter.grammar import first_word_rows, held_to_grammar
from distrl.agent.starter.model import EncodedScreen, StarterModel, is_letter

FEWEST_ROWS = 8


class DecodingGraphs:
    """The graphs of one model, recorded on first use. Use it only in inference mode."""

    def __init__(self, model: StarterModel, max_tokens: int) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._graphs: dict[int, _Graph] = {}

    def begin(self, encoded: EncodedScreen, start: Tensor) -> GraphedDecoding:  # start [n]
        return GraphedDecoding(self, encoded, start)

    def of(self, rows: int) -> _Graph:
        size = max(FEWEST_ROWS, 1 << (rows - 1).bit_length())
        if size not in self._graphs:
            self._graphs[size] = _Graph(self._model, size, self._max_tokens)
        return self._graphs[size]


class GraphedDecoding:
    """Implements `DecodingState`. Only the latest one is valid: each new one reuses the buffers."""

    def __init__(self, graphs: DecodingGraphs, encoded: EncodedScreen, start: Tensor) -> None:
        self._graphs = graphs
        self._length = 0
        self._graph = graphs.of(len(start))
        self._graph.load_screens(encoded)
        self.logits = self._graph.step(start, self._length)

    def step(self, tokens: Tensor) -> None:
        self._length += 1
        self.logits = self._graph.step(tokens, self._length)

    def keep(self, rows: Tensor) -> None:
        smaller = self._graphs.of(len(rows))
        smaller.load_rows(self._graph, rows)
        self._graph = smaller


class _Graph:
    """The graph of one decoding step for `rows` answers of at most `max_tokens` tokens."""

    def __init__(self, model: StarterModel, rows: int, max_tokens: int) -> None:
        self._model = model
        config, like = model.config, model.say.weight
        memory, head = config.max_items + config.max_words, config.width // config.heads

        def zeros(*shape: int) -> Tensor:
            return like.new_zeros((rows, *shape))

        def numbers(*shape: int) -> Tensor:
            return torch.zeros((rows, *shape), dtype=torch.long, device=like.device)

        def pairs(length: int) -> list[tuple[Tensor, Tensor]]:
            shape = (config.heads, length, head)
            return [(zeros(*shape), zeros(*shape)) for _ in range(config.decoder_layers)]

        self._mask = torch.ones((rows, memory), dtype=torch.bool, device=like.device)
        self._letters = zeros(memory, config.letters, config.letter_width)
        self._cells = numbers(config.max_items)
        self._copy_keys = zeros(memory, config.width)
        self._point_keys = zeros(config.max_items, config.width)
        self._memory, self._answer = pairs(memory), pairs(max_tokens)
        self._tokens, self._slots, self._first_words = numbers(), numbers(), numbers()
        self._place = torch.zeros(1, dtype=torch.long, device=like.device)
        self._places = torch.arange(max_tokens, device=like.device)
        self._replay = recorded(self._compute) if like.is_cuda else self._compute

    def step(self, tokens: Tensor, place: int) -> Tensor:  # [n] -> [n, vocabulary]
        """Return the logits after these tokens, which are at index `place` of their answers."""
        self._tokens[: len(tokens)].copy_(tokens)
        self._place.fill_(place)
        return self._replay()[: len(tokens)]

    def load_screens(self, encoded: EncodedScreen) -> None:
        """Compute keys, values and masks of the screens once, and copy them to the buffers."""
        states, count = encoded.last_hidden_state, len(encoded.cells)
        layers: Any = self._model.layers
        for (keys, values), layer in zip(self._memory, layers, strict=True):
            made = layer.memory_attention.keys_and_values(states)
            keys[:count].copy_(made[0])
            values[:count].copy_(made[1])
        items = states[:, : encoded.cells.shape[1]]
        for kept, part in (
            (self._mask, encoded.memory_mask),
            (self._letters, encoded.letters),
            (self._cells, encoded.cells),
            (self._copy_keys, self._model.copy_key(states)),
            (self._point_keys, self._model.point_key(items)),
        ):
            kept[:count].copy_(part)
        self._slots.zero_()
        self._first_words.zero_()

    def load_rows(self, other: _Graph, rows: Tensor) -> None:
        """Continue with some rows of another graph, or of this one."""
        for mine, theirs in zip(self._state(), other._state(), strict=True):
            mine[: len(rows)].copy_(theirs.index_select(0, rows))

    def _state(self) -> list[Tensor]:
        pairs = [tensor for pair in (*self._memory, *self._answer) for tensor in pair]
        screens = [self._mask, self._letters, self._cells, self._copy_keys, self._point_keys]
        return [*screens, *pairs, self._tokens, self._slots, self._first_words]

    def _compute(self) -> Tensor:
        """As `StarterModel.decode` for one token; write its keys and values to the buffers."""
        model, config = self._model, self._model.config
        tokens, layers = self._tokens.unsqueeze(1), cast("Any", model.layers)
        self._slots.copy_(_next_slots(self._tokens, self._slots, model))
        order = self._place.clamp(max=config.max_answer - 1)
        states = model._embed(tokens) + model.letter_order(self._slots.unsqueeze(1))
        states = states + model.answer_order(order)
        seen = (self._places <= self._place)[None, None, None, :]
        mask = self._mask[:, None, None, :]
        for layer, memory, answer in zip(layers, self._memory, self._answer, strict=True):
            states = layer.extend(states, memory, mask, answer, self._place, seen)
        hidden = model.norm(states)
        encoded = EncodedScreen(hidden, self._mask, self._letters, self._cells)
        written = model._say(hidden, encoded, self._copy_keys, self._slots.unsqueeze(1))
        pointed = model._point(hidden, encoded, self._point_keys)
        first = torch.where(self._place == 1, first_word_rows(self._tokens), self._first_words)
        self._first_words.copy_(first)
        spoken = torch.cat((written, pointed), -1)
        return held_to_grammar(spoken, first, self._place).squeeze(1)


def _next_slots(tokens: Tensor, slots: Tensor, model: StarterModel) -> Tensor:  # [n]
    """As `AnswerSoFar.letter_slots`, for one token."""
    letter = is_letter(tokens, model.config)
    return torch.where(letter, slots + 1, 0).clamp(max=model.config.letters)
