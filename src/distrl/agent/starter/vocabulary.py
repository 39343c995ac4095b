"""The starter's output vocabulary (tokens) and the classes its screen reader knows (signs).

Tokens: a few that frame an answer, the words of the compact dialect, single characters, bytes for
every other character, and one token for each cell of the screen. Signs: what the reader tells apart
on a screen, that is letters, icons and the states of controls.
"""

from __future__ import annotations

import string
from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from distrl.agent.dialects.compact import COLUMNS, KINDS, MAX_TENTHS, ROWS

PAD, START, END = "<pad>", "<start>", "<end>"
CHARACTERS = (
    " \n" + string.digits + string.ascii_letters + string.punctuation + "“”‘’…–—−×÷·•°€£éèüöäñçåøß"
)
CONTROLS = (
    "switch on", "switch off", "box empty", "box checked", "radio on", "radio off", "knob",
    "picture",
)  # fmt: skip


@cache
def tokens() -> tuple[str, ...]:
    """Return all tokens; the index of a token is its id. Cells of the screen come last."""
    return (
        *(PAD, START, END),
        *(f"<{kind}>" for kind in KINDS),
        *(f"<{tenths}>" for tenths in range(1, MAX_TENTHS + 1)),
        *CHARACTERS,
        *(f"<0x{byte:02X}>" for byte in range(256)),
        *places(),
    )


def places() -> tuple[str, ...]:
    """Return the tokens of the screen's cells, row by row."""
    return tuple(f"<{column},{row}>" for row in range(ROWS) for column in range(COLUMNS))


def signs(icons: tuple[str, ...]) -> tuple[str, ...]:
    """Return the signs that the reader tells apart; their ids begin at 1, and 0 means none."""
    letters = tuple(letter for letter in CHARACTERS if not letter.isspace())
    return ("space", "other", *letters, *CONTROLS, *(f"icon:{name}" for name in icons))


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Build a character-level tokenizer; characters outside the vocabulary become bytes."""
    numbers = {token: number for number, token in enumerate(tokens())}
    model = models.BPE(vocab=numbers, merges=[], byte_fallback=True, fuse_unk=False)
    tokenizer = Tokenizer(model)
    words = (*(f"<{kind}>" for kind in KINDS), *places())
    durations = tuple(f"<{tenths}>" for tenths in range(1, MAX_TENTHS + 1))
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in (*words, *durations)])
    tokenizer.add_special_tokens([AddedToken(each, special=True) for each in (PAD, START, END)])
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=START,
        eos_token=END,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
