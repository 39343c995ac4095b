"""The sizes of the starter model, and the signs it reads; saved as its config.json."""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig


class StarterConfig(PretrainedConfig):  # type: ignore[no-untyped-call]
    """A screen of rows × columns places, 10 × 3 pixels each; a text of up to `most_words` words."""

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
        most_words: int = 48,
        most_items: int = 128,
        most_ink: int = 768,
        most_answer: int = 48,
        strip: int = 56,
        remembered_screens: int = 2048,
        **rest: Any,
    ) -> None:
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
        self.most_words = most_words
        self.most_items = most_items
        self.most_ink = most_ink
        self.most_answer = most_answer
        self.strip = strip
        self.remembered_screens = remembered_screens
        rest.setdefault("is_encoder_decoder", True)
        rest.setdefault("pad_token_id", 0)
        rest.setdefault("bos_token_id", 1)
        rest.setdefault("decoder_start_token_id", 1)
        rest.setdefault("eos_token_id", 2)
        rest.setdefault("tie_word_embeddings", False)
        super().__init__(**rest)

    @property
    def hidden_size(self) -> int:
        """What Hugging Face calls the width."""
        return self.width
