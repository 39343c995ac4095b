"""The starter's configuration: layer sizes and the signs it reads; saved as its config.json."""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig

from distrl.errors import UsageError


class StarterConfig(PretrainedConfig):  # type: ignore[no-untyped-call]
    """Layer sizes, the screen's pixels (read as places of 3 × 10), and limits (`max_words`, …)."""

    model_type = "distrl_starter"

    def __init__(
        self,
        signs: list[str] | None = None,
        first_character: int = 0,
        characters: str = "",
        first_place: int = 0,
        vocab_size: int = 3,
        screen_width: int = 360,
        screen_height: int = 720,
        width: int = 192,
        heads: int = 6,
        reader_width: int = 96,
        reader_layers: int = 3,
        encoder_layers: int = 4,
        decoder_layers: int = 3,
        letters: int = 16,
        letter_width: int = 16,
        max_words: int = 48,
        max_items: int = 128,
        max_ink: int = 768,
        max_answer: int = 48,
        strip: int = 56,
        **rest: Any,
    ) -> None:
        if renamed := sorted(name for name in rest if name.startswith("most_")):
            raise UsageError(
                f"config.json of this starter model has {', '.join(renamed)}: it was written by an "
                "older version; rename each most_… in that file to max_…"
            )
        self.signs = signs or []
        self.first_character = first_character
        self.characters = characters
        self.first_place = first_place
        self.vocab_size = vocab_size
        self.screen_width = screen_width
        self.screen_height = screen_height
        self.width = width
        self.heads = heads
        self.reader_width = reader_width
        self.reader_layers = reader_layers
        self.encoder_layers = encoder_layers
        self.decoder_layers = decoder_layers
        self.letters = letters
        self.letter_width = letter_width
        self.max_words = max_words
        self.max_items = max_items
        self.max_ink = max_ink
        self.max_answer = max_answer
        self.strip = strip
        rest.setdefault("is_encoder_decoder", True)
        rest.setdefault("pad_token_id", 0)
        rest.setdefault("bos_token_id", 1)
        rest.setdefault("decoder_start_token_id", 1)
        rest.setdefault("eos_token_id", 2)
        rest.setdefault("tie_word_embeddings", False)
        super().__init__(**rest)

    @property
    def hidden_size(self) -> int:
        """Return the width under the name that Hugging Face uses."""
        return self.width
