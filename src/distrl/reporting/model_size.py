"""How large a model is: by its files, or by its name where they are not on the disk yet."""

from __future__ import annotations

import re
from pathlib import Path

from distrl.errors import UnusableModel

BILLIONS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)B(?![\w])")
VISION = 1.25  # weights of a vision-language model beside those that its name counts
WIDTHS = {"bfloat16": 2, "float16": 2}  # bytes of a number; others have 4


def model_bytes(model: str) -> int | None:
    """The size of a model's weights; None where they are not on this disk as a whole."""
    from distrl.agent.model_directory import weight_files

    try:
        sizes = [file.stat().st_size for file in weight_files(_weights_directory(model))]
    except (UnusableModel, OSError):
        return None
    return sum(sizes)


def _weights_directory(model: str) -> Path:
    """Where a model's weights lie: of adapters, those of the model that they go onto.

    `policy.json` alone is read: the checksums of large files would take long.
    """
    from distrl.agent.export_directory import MANIFEST
    from distrl.agent.loading import model_path
    from distrl.agent.model_directory import read_json

    folder = Path(model_path(model)).expanduser()  # the starter's has another name
    if (folder / MANIFEST).is_file():
        manifest = read_json(folder / MANIFEST)
        if manifest.get("kind") == "adapters":
            return Path(str(manifest.get("base_model")))
    return folder


def named_weights(model: str) -> int | None:
    """How many weights a model has by the number in its name (3B is 3 billion, and those of its
    vision tower); None where it has none.
    """
    found = BILLIONS.search(Path(model).name)
    return round(float(found[1]) * 1e9 * VISION) if found else None


def weight_count(model: str) -> int | None:
    """How many weights a model has; None where neither files nor name say it."""
    from distrl.agent.model_directory import saved_type

    if (saved := model_bytes(model)) is None:
        return named_weights(model)
    try:
        return saved // WIDTHS.get(saved_type(_weights_directory(model)), 4)
    except UnusableModel:
        return named_weights(model)
