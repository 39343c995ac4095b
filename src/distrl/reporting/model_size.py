"""How large a model is: by its files, or by its name where they are not on the disk yet."""

from __future__ import annotations

import re
from pathlib import Path

BILLIONS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)B(?![\w])")
VISION = 1.25  # weights of a vision-language model beside those that its name counts
WIDTHS = {"bfloat16": 2, "float16": 2}  # bytes of a number; others have 4


def model_bytes(folder: Path) -> int | None:
    """The size of a model's weights; None where it is no directory of them."""
    sizes = [file.stat().st_size for file in folder.glob("*.safetensors")]
    return sum(sizes) or None


def named_weights(model: str) -> int | None:
    """How many weights a model has by the number in its name (3B is 3 billion, and those of its
    vision tower); None where it has none.
    """
    found = BILLIONS.search(Path(model).name)
    return round(float(found[1]) * 1e9 * VISION) if found else None


def weight_count(model: str) -> int | None:
    """How many weights a model has; None where neither files nor name say it."""
    from distrl.agent.loading import model_path
    from distrl.agent.model_directory import saved_type

    saved = model_bytes(folder := Path(model_path(model)))  # the starter's has another name
    if saved is None:
        return named_weights(model)
    return saved // WIDTHS.get(saved_type(folder), 4)
