"""A model's tokenizer, and the tokens that its family cannot do without.

A tokenizer that came from another model, or lost its added tokens on the way, would cut an image
token into letters; the model would then see no picture at all. Better to say so at once.
"""

from __future__ import annotations

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from distrl.agent.families.model_family import ModelParts
from distrl.errors import MissingTokens

ADVICE = "copy tokenizer.json and tokenizer_config.json from the model that this one was made from"


def read_tokenizer(parts: ModelParts) -> PreTrainedTokenizerBase:
    """The tokenizer in the model's directory; the model has an embedding for each of its tokens."""
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
    """The id of a token that the tokenizer has as one piece; None where it has no such token."""
    found = tokenizer.convert_tokens_to_ids(token)
    if not isinstance(found, int) or tokenizer.convert_ids_to_tokens(found) != token:
        return None
    return found


def check_tokens(
    parts: ModelParts, tokenizer: PreTrainedTokenizerBase, tokens: tuple[str, ...]
) -> None:
    """All of these tokens are there."""
    missing = [token for token in tokens if token_id(tokenizer, token) is None]
    if missing:
        raise MissingTokens(
            f"the tokenizer in {parts.directory} has no {', '.join(missing)}, which a "
            f"{parts.config.model_type!r} model needs for its pictures; {ADVICE}"
        )


def image_token_id(parts: ModelParts, tokenizer: PreTrainedTokenizerBase, token: str) -> int:
    """The id of the token that stands for a piece of picture: config and tokenizer must agree."""
    check_tokens(parts, tokenizer, (token,))
    number = token_id(tokenizer, token)
    expected = parts.config.image_token_id
    if number is None or number != expected:
        raise MissingTokens(
            f"{parts.directory}: the tokenizer has {token} as number {number}, but config.json "
            f"says image_token_id={expected}; tokenizer and model do not belong together: {ADVICE}"
        )
    return number
