"""Answers as tokens and back.

What a model samples is never re-tokenised from text; `encode` is for demonstrations, and gives the
tokens that a model with this tokenizer would most naturally sample. Text that looks like a special
token stays text: somebody may well want to type "<|im_end|>" into a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import GenerationConfig, PreTrainedTokenizerBase

from distrl.agent.families.model_family import ModelParts
from distrl.agent.families.tokenizers import token_id
from distrl.errors import MissingTokens


@dataclass(frozen=True, slots=True)
class AnswerTokens:
    """How one tokenizer writes answers. `end_token_id` is the end that a demonstration gets."""

    tokenizer: PreTrainedTokenizerBase
    end_token_id: int
    end_token_ids: frozenset[int]
    pad_token_id: int

    def decode(self, token_ids: Sequence[int]) -> str:
        ended = bool(token_ids) and token_ids[-1] in self.end_token_ids
        kept = list(token_ids[:-1] if ended else token_ids)
        # Special tokens inside an answer are shown, so that a dialect can call it unreadable.
        text = self.tokenizer.decode(
            kept, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return str(text)

    def encode(self, text: str) -> tuple[int, ...]:
        ids = self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        return (*ids, self.end_token_id)


def answer_tokens(
    parts: ModelParts, tokenizer: PreTrainedTokenizerBase, turn_end: str | None = None
) -> AnswerTokens:
    """`turn_end` is what closes a turn in the family's chat; without a chat, it is `eos_token`."""
    closing = token_id(tokenizer, turn_end) if turn_end else None
    ends = {closing, tokenizer.eos_token_id, *_configured_ends(parts)} - {None}
    natural = next((end for end in (closing, tokenizer.eos_token_id) if end in ends), None)
    if natural is None:
        raise MissingTokens(
            f"the tokenizer in {parts.directory} has no {turn_end or 'eos_token'}, so no answer "
            "would ever end; set eos_token in tokenizer_config.json"
        )
    # Any token may pad, since padding is masked; only a tokenizer without any end has none.
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else natural
    return AnswerTokens(tokenizer, natural, frozenset(ends), pad)


def _configured_ends(parts: ModelParts) -> set[int]:
    """The ends that generation_config.json lists, where there is one."""
    if not (parts.directory / "generation_config.json").is_file():
        return set()
    found = GenerationConfig.from_pretrained(parts.directory, local_files_only=True).eos_token_id
    return {found} if isinstance(found, int) else set(found or ())
