"""The starter model: reads the screen and the instruction, matches the two, writes an action.

    pixels ─► ScreenReader ─► items ┐                       ┌─► words, written or copied
                                    ├─► encoder ─► decoder ─┤
    prompt ─► TextReader  ─► words ─┘                       └─► places, on an item or anywhere

Items of the screen and words of the prompt share one table of letter embeddings, so "find what is
called X" is a dot product of spellings, and works for names never seen in training. The logits of
text tokens are the sum of two heads: one copies, letter by letter, from the item or word that it
attends to; the other is an ordinary language-model head. The logits of places combine scores of the
items there with a score for every cell. Tokens that would make an answer unreadable are masked
(`grammar`).

It is an encoder-decoder `PreTrainedModel` of Hugging Face, so that it loads, samples, trains and
takes adapters by the same code as any other model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_outputs import Seq2SeqLMOutput

from distrl.agent.dialects.compact import COLUMNS, ROWS
from distrl.agent.starter.configuration import StarterConfig
from distrl.agent.starter.grammar import first_word_rows, held_to_grammar
from distrl.agent.starter.layers import DecoderLayer, EncoderLayer, KeysAndValues
from distrl.agent.starter.screen_reader import ACROSS, ReadScreen, ScreenReader
from distrl.agent.starter.text_reader import TextReader

CELL = 10  # pixels
NEAR = 5  # kernel size of `Neighbours`: items or words in reading order
WAVES = 16  # frequencies of sine and cosine, for each axis
RARE = -4.0  # initial bias of the logits of ink and of beginnings at a place
EVERYWHERE = -4.0  # added to the logits of all cells, so that cells with items start out likelier


@dataclass(frozen=True, slots=True)
class EncodedScreen:
    """The encoder's output: the states of items and words, and their spellings."""

    last_hidden_state: Tensor  # [n, items + words, width]
    memory_mask: Tensor  # [n, items + words], bool
    letters: Tensor  # [n, items + words, letters, letter_width]
    cells: Tensor  # [n, items]: the place of each item

    def rows(self, chosen: Tensor) -> EncodedScreen:
        return EncodedScreen(
            self.last_hidden_state[chosen],
            self.memory_mask[chosen],
            self.letters[chosen],
            self.cells[chosen],
        )


class Lookup(nn.Module):
    """Attention by similarity of spelling alone, with a learned threshold for "no match"."""

    def __init__(self, config: StarterConfig) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(12.0))
        self.nobody = nn.Parameter(torch.tensor(0.7))
        self.out = nn.Linear(config.width + 1, config.width)

    def forward(self, mine: Tensor, theirs: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """`mine` [n, m, spelling], `theirs` [n, k, spelling], `states` [n, k, width]."""
        alike = functional.normalize(mine, dim=-1) @ functional.normalize(theirs, dim=-1).transpose(
            1, 2
        )
        nobody = (self.sharpness * self.nobody).expand(*alike.shape[:2], 1)
        alike = (self.sharpness * alike).masked_fill(~mask.unsqueeze(1), -torch.inf)
        share = torch.cat((alike, nobody), -1).softmax(-1)[..., :-1]
        found = torch.cat((share @ states, share.sum(-1, keepdim=True)), -1)
        out: Tensor = self.out(found)
        return out


class Neighbours(nn.Module):
    """A convolution over neighbours in reading order: names may have more than one word."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Conv1d(width, width, NEAR, padding=NEAR // 2)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Mask padding after the norm, so that no answer depends on it, then convolve.

        The convolution is computed as one matrix product: cuDNN chooses its algorithm (an FFT is
        one of them) by batch size, so the same screen would get other states when an answer is
        scored.
        """
        normed = self.norm(states) * mask.unsqueeze(-1)
        padded = functional.pad(normed, (0, 0, NEAR // 2, NEAR // 2))
        near = padded.unfold(1, NEAR, 1).flatten(2)  # [n, length, width · NEAR]
        mixed = functional.linear(near, self.mix.weight.flatten(1), self.mix.bias)
        out: Tensor = states + functional.gelu(mixed)
        return out


class Encoder(nn.Module):
    """Encodes screen and prompt as one sequence of states: items first, then words."""

    something: Tensor

    def __init__(self, config: StarterConfig) -> None:
        super().__init__()
        self.config = config
        width, spelling = config.width, config.letters * config.letter_width
        self.screen_reader = ScreenReader(config)
        self.text_reader = TextReader(config)
        self.letter_table = nn.Embedding(len(config.signs) + 1, config.letter_width)
        self.register_buffer(
            "something", (torch.arange(len(config.signs) + 1) > 0).float().unsqueeze(1)
        )
        self.spelling = nn.Linear(spelling, width)
        self.features = nn.Linear(config.reader_width + 1, width)
        self.place = nn.Linear(4 * WAVES, width)
        self.token_table = nn.Embedding(config.first_place, width)
        self.before_table = nn.Embedding(config.first_place, width)
        self.after_table = nn.Embedding(config.first_place, width)
        self.order_table = nn.Embedding(config.max_words, width)
        self.kind_table = nn.Embedding(2, width)
        self.find_word = Lookup(config)
        self.find_item = Lookup(config)
        self.beside_item = Neighbours(width)
        self.beside_word = Neighbours(width)
        self.layers = nn.ModuleList(
            EncoderLayer(width, config.heads) for _ in range(config.encoder_layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        pixel_values: Tensor | None = None,
        **ignored: Any,
    ) -> EncodedScreen:
        return self.read(input_ids, pixel_values)[0]

    def as_parts(self, encoded: EncodedScreen) -> tuple[Tensor, ...]:
        """Return an encoding as tensors whose rows have one shape for every prompt, for caching."""
        return encoded.last_hidden_state, encoded.memory_mask, encoded.letters, encoded.cells

    def from_parts(self, parts: tuple[Tensor, ...]) -> EncodedScreen:
        return EncodedScreen(*parts)

    def read(
        self, input_ids: Tensor, pixel_values: Tensor | None
    ) -> tuple[EncodedScreen, ReadScreen]:
        """As `forward`; also return the screen reader's output, for the imitation losses."""
        if pixel_values is None:
            raise ValueError("the starter model needs pixel_values [n, height, width, 3], uint8")
        table = self.letter_table.weight * self.something  # row 0, "no letter", is zero
        screen: ReadScreen = self.screen_reader(pixel_values, table)
        text = self.text_reader(input_ids)
        kind = self.kind_table.weight
        dtype = self.spelling.weight.dtype
        item_letters = screen.letters.to(dtype)
        word_letters = functional.embedding(text.signs, table, padding_idx=0).to(dtype)
        x = (screen.columns * ACROSS + ACROSS / 2) / CELL
        y = screen.rows.float() + 0.5
        features = torch.cat((screen.features, screen.certainty.unsqueeze(-1)), -1).to(dtype)
        items = self.spelling(item_letters.flatten(2)) + self.features(features)
        items = items + self.place(waves(x, y).to(dtype)) + kind[0]
        words = self.spelling(word_letters.flatten(2)) + self._surroundings(text, dtype) + kind[1]
        everything = torch.ones_like(screen.rows, dtype=torch.bool)
        spelled_items, spelled_words = item_letters.flatten(2), word_letters.flatten(2)
        nearer_items = items + self.find_word(spelled_items, spelled_words, words, text.mask)
        words = words + self.find_item(spelled_words, spelled_items, items, everything)
        items = self.beside_item(nearer_items, everything)
        states = torch.cat((items, self.beside_word(words, text.mask)), 1)
        mask = torch.cat((everything, text.mask), 1)
        for layer in self.layers:
            states = layer(states, mask[:, None, None, :])
        encoded = EncodedScreen(
            last_hidden_state=self.norm(states),
            memory_mask=mask,
            letters=torch.cat((item_letters, word_letters), 1),
            cells=screen.rows * COLUMNS + x.long().clamp(max=COLUMNS - 1),
        )
        return encoded, screen

    def _surroundings(self, text: Any, dtype: torch.dtype) -> Tensor:
        """Embed what a word's letters do not tell: its token, its position, adjacent tokens."""
        cell = text.tokens - self.config.first_place
        on_screen = (cell >= 0).unsqueeze(-1)
        place = self.place(waves(cell % COLUMNS + 0.5, cell // COLUMNS + 0.5).to(dtype)) * on_screen
        token = torch.where(on_screen, 0.0, self.token_table(text.tokens * ~on_screen.squeeze(-1)))
        order = self.order_table.weight[: text.tokens.shape[1]]
        last = self.config.first_place - 1  # adjacent tokens: all places share one embedding
        around = self.before_table(text.before.clamp(max=last))
        around = around + self.after_table(text.after.clamp(max=last))
        out: Tensor = place + token + around + order
        return out


class StarterModel(PreTrainedModel):  # type: ignore[no-untyped-call]
    """The whole model. `pixel_values` are uint8 [n, 720, 360, 3], exactly the phone's pixels."""

    config: StarterConfig
    config_class = StarterConfig
    base_model_prefix = ""
    main_input_name = "input_ids"
    supports_gradient_checkpointing = False
    _supports_sdpa = True

    def __init__(self, config: StarterConfig) -> None:
        super().__init__(config)
        width, spelling = config.width, config.letter_width
        self.encoder = Encoder(config)
        self.answer_table = nn.Embedding(config.first_place, width)
        self.answer_order = nn.Embedding(config.max_answer, width)
        self.letter_order = nn.Embedding(config.letters + 1, width)
        self.answer_place = nn.Linear(4 * WAVES, width)
        self.layers = nn.ModuleList(
            DecoderLayer(width, config.heads) for _ in range(config.decoder_layers)
        )
        self.norm = nn.LayerNorm(width)
        self.say = nn.Linear(width, config.first_place)
        self.copy_query = nn.Linear(width, width)
        self.copy_key = nn.Linear(width, width)
        self.copy_out = nn.Linear(spelling, config.first_place)
        self.point_query = nn.Linear(width, width)
        self.point_key = nn.Linear(width, width)
        self.anywhere = nn.Linear(width, ROWS * COLUMNS)
        self.post_init()  # type: ignore[no-untyped-call]

    def _init_weights(self, module: nn.Module) -> None:
        """Give embeddings a std of 0.5: with tiny ones, lookups find nothing (docs/log.md)."""
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.5)
        elif module is self.encoder.screen_reader.marks:
            nn.init.xavier_uniform_(module.weight)
            nn.init.constant_(module.bias, RARE)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def decoding_graphs(self, max_tokens: int) -> Any:
        """Return the CUDA graphs that decode answers of up to `max_tokens` tokens."""
        from distrl.agent.starter.decoding_graph import DecodingGraphs

        return DecodingGraphs(self, max_tokens)

    def get_encoder(self, *args: Any, **kwargs: Any) -> Encoder:
        return self.encoder

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        pixel_values: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        encoder_outputs: EncodedScreen | None = None,
        past_key_values: Any = None,
        use_cache: bool | None = None,
        **ignored: Any,
    ) -> Seq2SeqLMOutput:
        if encoder_outputs is None:
            if input_ids is None:
                raise ValueError("give input_ids and pixel_values, or encoder_outputs")
            encoder_outputs = self.encoder(input_ids, attention_mask, pixel_values)
        if decoder_input_ids is None:
            raise ValueError("give decoder_input_ids; an answer begins with <start>")
        return self.decode(encoder_outputs, decoder_input_ids, past_key_values)

    def decode(
        self, encoded: EncodedScreen, answer: Tensor, past: AnswerSoFar | None = None
    ) -> Seq2SeqLMOutput:
        """Return the logits of the next token after each token of `answer` [n, length]."""
        mask = encoded.memory_mask
        past = past if isinstance(past, AnswerSoFar) else AnswerSoFar.begin(self, encoded)
        slot = past.letter_slots(answer, self.config)
        order = torch.arange(past.length, past.length + answer.shape[1], device=answer.device)
        states = self._embed(answer) + self.letter_order(slot)
        states = states + self.answer_order(order.clamp(max=self.config.max_answer - 1))
        kept = []
        for number, layer in enumerate(self.layers):
            states, keys_and_values = layer(
                states, past.memory[number], mask[:, None, None, :], past.answer[number]
            )
            kept.append(keys_and_values)
        hidden = self.norm(states)
        written = self._say(hidden, encoded, past.copy_keys, slot)
        spoken = torch.cat((written, self._point(hidden, encoded, past.point_keys)), -1)
        so_far: Any = past.after(kept, slot, answer)  # a cache of our own, not of transformers
        said: Any = held_to_grammar(spoken, so_far.first_word, order)
        states_of: Any = (hidden,)
        return Seq2SeqLMOutput(logits=said, past_key_values=so_far, decoder_hidden_states=states_of)

    def _embed(self, answer: Tensor) -> Tensor:
        cell = answer - self.config.first_place
        on_screen = (cell >= 0).unsqueeze(-1)
        dtype = self.answer_place.weight.dtype
        where = waves(cell % COLUMNS + 0.5, cell // COLUMNS + 0.5).to(dtype)
        embedded: Tensor = torch.where(
            on_screen,
            self.answer_place(where),
            self.answer_table(answer.clamp(max=self.config.first_place - 1)),
        )
        return embedded

    def _say(self, hidden: Tensor, encoded: EncodedScreen, keys: Tensor, slot: Tensor) -> Tensor:
        """Return the logits of text: the language-model head plus the next letter to be copied."""
        letters = encoded.letters
        alike = self.copy_query(hidden) @ keys.transpose(1, 2)
        alike = (alike / hidden.shape[-1] ** 0.5).masked_fill(
            ~encoded.memory_mask.unsqueeze(1), -1e4
        )
        share = alike.softmax(-1)  # [n, length, memory]
        spelled = (share @ letters.flatten(2)).unflatten(-1, letters.shape[2:])
        nothing = torch.zeros_like(spelled[:, :, :1])
        spelled = torch.cat((spelled, nothing), 2)  # for slots beyond `config.letters`
        index = slot.view(*slot.shape, 1, 1).expand(-1, -1, 1, spelled.shape[-1])
        letter = spelled.gather(2, index).squeeze(2)  # [n, length, letter_width]
        out: Tensor = self.say(hidden) + self.copy_out(letter)
        return out

    def _point(self, hidden: Tensor, encoded: EncodedScreen, keys: Tensor) -> Tensor:
        """Return the logits of cells: log-sum-exp of a cell's own score and those of its items."""
        on_items = self.point_query(hidden) @ keys.transpose(1, 2) / hidden.shape[-1] ** 0.5
        cells = encoded.cells.unsqueeze(1).expand_as(on_items)
        habit = (self.anywhere(hidden) + EVERYWHERE).float()
        most = torch.maximum(habit.amax(-1, keepdim=True), on_items.float().amax(-1, keepdim=True))
        weight = (habit - most).exp().scatter_add(2, cells, (on_items.float() - most).exp())
        logits: Tensor = (weight.clamp(min=1e-30).log() + most).to(hidden.dtype)
        return logits


@dataclass(frozen=True)
class AnswerSoFar:
    """The decoder's cache between tokens; keys and values of the screen are computed once."""

    memory: tuple[KeysAndValues, ...]
    copy_keys: Tensor  # [n, items + words, width]
    point_keys: Tensor  # [n, items, width]
    answer: tuple[KeysAndValues | None, ...]
    slot: Tensor  # [n]: letters since the last space, before the next token
    first_word: Tensor  # [n]: its row in the grammar; 0 before there is one
    length: int

    @staticmethod
    def begin(model: StarterModel, encoded: EncodedScreen) -> AnswerSoFar:
        layers: Any = model.layers
        memory, items = encoded.last_hidden_state, encoded.cells.shape[1]
        kept = tuple(layer.memory_attention.keys_and_values(memory) for layer in layers)
        none = torch.zeros(len(memory), dtype=torch.long, device=memory.device)
        copy_keys, point_keys = model.copy_key(memory), model.point_key(memory[:, :items])
        return AnswerSoFar(kept, copy_keys, point_keys, (None,) * len(kept), none, none, 0)

    def letter_slots(self, answer: Tensor, config: StarterConfig) -> Tensor:  # [n, length]
        """Return, after each token, the index of the word's next letter (since the last space)."""
        at = torch.arange(1, answer.shape[1] + 1, device=answer.device).expand_as(answer)
        broken = torch.where(is_letter(answer, config), 0, at).cummax(1).values
        slots = torch.where(broken > 0, at - broken, self.slot.unsqueeze(1) + at)
        return slots.clamp(max=config.letters)

    def rows(self, chosen: Tensor) -> AnswerSoFar:
        memory = tuple((keys[chosen], values[chosen]) for keys, values in self.memory)
        answer = tuple(
            None if each is None else (each[0][chosen], each[1][chosen]) for each in self.answer
        )
        return replace(
            self,
            memory=memory,
            copy_keys=self.copy_keys[chosen],
            point_keys=self.point_keys[chosen],
            answer=answer,
            slot=self.slot[chosen],
            first_word=self.first_word[chosen],
        )

    def after(self, kept: list[KeysAndValues], slots: Tensor, answer: Tensor) -> AnswerSoFar:
        length, first = self.length + answer.shape[1], self.first_word
        if self.length <= 1 < length:  # token 0 is the start token, token 1 the first word
            first = first_word_rows(answer[:, 1 - self.length])
        return replace(self, answer=tuple(kept), slot=slots[:, -1], first_word=first, length=length)


def is_letter(tokens: Tensor, config: StarterConfig) -> Tensor:
    """Return where a token is a character of a word, that is any character but a space."""
    first = config.first_character
    character = (tokens >= first) & (tokens < first + len(config.characters))
    return character & (tokens != first + config.characters.index(" "))


def waves(x: Tensor, y: Tensor) -> Tensor:  # [..., 4 · WAVES]
    """Encode points, in cells, as sines and cosines with frequencies from fine to coarse."""
    scale = 2.0 ** (-torch.arange(WAVES, device=x.device) / 2.5) * 1.5
    angles = torch.cat((x.float().unsqueeze(-1) * scale, y.float().unsqueeze(-1) * scale), -1)
    return torch.cat((angles.sin(), angles.cos()), -1)
