"""A model's tokenizer: checks the tokens that its family needs; encodes and decodes answers.

A tokenizer of another model, or one that lost its added tokens, would split an image token into
letters, and the model would see no picture at all; loading raises `MissingTokens` instead.

Sampled tokens are never re-tokenised from text. `AnswerTokens.encode` is for demonstrations; it
gives the tokens that a model with this tokenizer would most naturally sample. Text that looks like
a special token stays text: a user may well want to type "<|im_end|>" into a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, GenerationConfig, PreTrainedTokenizerBase

from distrl.agent.families.model_family import ModelParts
from distrl.errors import MissingTokens

ADVICE = "copy tokenizer.json and tokenizer_config.json from the model that this one was made from"


def read_tokenizer(parts: ModelParts) -> PreTrainedTokenizerBase:
    """Load the tokenizer in the model's directory; check that each token has an embedding."""
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            parts.directory, config=parts.config, local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MissingTokens(
            f"{parts.directory} has no tokenizer that can be read ({error}); {ADVICE}"
        ) from error
    embeddings = parts.config.get_text_config().vocab_size
    if len(tokenizer) > embeddings:
        raise MissingTokens(
            f"the tokenizer in {parts.directory} has {len(tokenizer)} tokens, but the model has "
            f"embeddings for {embeddings}; {ADVICE}"
        )
    return tokenizer


def token_id(tokenizer: PreTrainedTokenizerBase, token: str) -> int | None:
    """Return the id of a token that the tokenizer has as one piece; None if it has not."""
    found = tokenizer.convert_tokens_to_ids(token)
    if not isinstance(found, int) or tokenizer.convert_ids_to_tokens(found) != token:
        return None
    return found


def check_tokens(
    parts: ModelParts, tokenizer: PreTrainedTokenizerBase, tokens: tuple[str, ...]
) -> None:
    """Raise `MissingTokens` unless the tokenizer has all of these tokens."""
    missing = [token for token in tokens if token_id(tokenizer, token) is None]
    if missing:
        raise MissingTokens(
            f"the tokenizer in {parts.directory} has no {', '.join(missing)}, which a "
            f"{parts.config.model_type!r} model needs for its pictures; {ADVICE}"
        )


def image_token_id(parts: ModelParts, tokenizer: PreTrainedTokenizerBase, token: str) -> int:
    """Return the id of the image token; raise `MissingTokens` if config and tokenizer disagree."""
    check_tokens(parts, tokenizer, (token,))
    number = token_id(tokenizer, token)
    expected = parts.config.image_token_id
    if number is None or number != expected:
        raise MissingTokens(
            f"{parts.directory}: the tokenizer has {token} as number {number}, but config.json "
            f"says image_token_id={expected}; tokenizer and model do not belong together: {ADVICE}"
        )
    return number


@dataclass(frozen=True, slots=True)
class AnswerTokens:
    """A codec between answer text and tokens.

    Any of `end_token_ids` ends an answer and is part of its tokens; `end_token_id` is the one that
    demonstrations end with.
    """

    tokenizer: PreTrainedTokenizerBase
    end_token_id: int
    end_token_ids: frozenset[int]
    pad_token_id: int

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of an answer, without its end token."""
        ended = bool(token_ids) and token_ids[-1] in self.end_token_ids
        kept = list(token_ids[:-1] if ended else token_ids)
        # Special tokens inside an answer are kept, so that the dialect finds it unreadable.
        text = self.tokenizer.decode(
            kept, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return str(text)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the tokens of an answer, end token included, as a model would sample them."""
        ids = self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        return (*ids, self.end_token_id)


def answer_tokens(
    parts: ModelParts, tokenizer: PreTrainedTokenizerBase, turn_end: str | None = None
) -> AnswerTokens:
    """`turn_end` is the token that ends a turn in the family's chat; None: use `eos_token`."""
    closing = token_id(tokenizer, turn_end) if turn_end else None
    ends = {closing, tokenizer.eos_token_id, *_configured_ends(parts)} - {None}
    natural = next((end for end in (closing, tokenizer.eos_token_id) if end in ends), None)
    if natural is None:
        raise MissingTokens(
            f"the tokenizer in {parts.directory} has no {turn_end or 'eos_token'}, so no answer "
            "would ever end; set eos_token in tokenizer_config.json"
        )
    # Padding is masked, so any token can serve; without a pad token, the end token does.
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else natural
    return AnswerTokens(tokenizer, natural, frozenset(ends), pad)


def _configured_ends(parts: ModelParts) -> set[int]:
    """Return the end tokens that generation_config.json lists, if there is one."""
    if not (parts.directory / "generation_config.json").is_file():
        return set()
    found = GenerationConfig.from_pretrained(parts.directory, local_files_only=True).eos_token_id
    return {found} if isinstance(found, int) else set(found or ())


def padded(
    rows: Sequence[Sequence[int] | NDArray[np.int32]],
    pad_token_id: int,
    side: Literal["left", "right"],
) -> tuple[Tensor, Tensor]:
    """Pad rows of tokens; return them and their mask, both [rows, longest]."""
    ids = [torch.as_tensor(row, dtype=torch.int64) for row in rows]
    real = [torch.ones_like(row) for row in ids]
    return (
        pad_sequence(ids, batch_first=True, padding_value=pad_token_id, padding_side=side),
        pad_sequence(real, batch_first=True, padding_side=side),
    )
