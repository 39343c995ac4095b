"""The size of a model: by its files, or by its name if they are not on the disk yet."""

from __future__ import annotations

import re
from pathlib import Path

from distrl.config.training_config import TrainingConfig
from distrl.errors import UnusableModel

BILLIONS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)B(?![\w])")
VISION = 1.25  # all weights of a vision-language model per weight that its name counts
WIDTHS = {"bfloat16": 2, "float16": 2}  # bytes of a number; others have 4


def model_bytes(model: str) -> int | None:
    """Return the bytes of a model's weight files; None unless all of them are on this disk."""
    from distrl.agent.model_directory import weight_files

    try:
        sizes = [file.stat().st_size for file in weight_files(_weights_directory(model))]
    except (UnusableModel, OSError):
        return None
    return sum(sizes)


def _weights_directory(model: str) -> Path:
    """Return the directory of a model's weights; for exported adapters, of their base model."""
    from distrl.agent.loading import model_path

    return _base_of_adapters(model) or Path(model_path(model)).expanduser()


def _base_of_adapters(model: str) -> Path | None:
    """Return the base model of exported adapters; None if `model` is something else.

    Read `policy.json` only: verifying the checksums of large files would take long.
    """
    from distrl.agent.export_directory import MANIFEST, trained_directory
    from distrl.agent.model_directory import read_json

    if (trained := trained_directory(model)) is None:
        return None
    manifest = read_json(trained / MANIFEST)
    return Path(str(manifest.get("base_model"))) if manifest.get("kind") == "adapters" else None


def trains_adapters(config: TrainingConfig) -> bool:
    """Return whether only adapters are trained: new ones, or those of an exported model."""
    agent = config.agent
    if agent.policy.lora is not None or agent.adapter:
        return True
    try:
        return _base_of_adapters(agent.model) is not None
    except UnusableModel:
        return False


def named_weights(model: str) -> int | None:
    """Return the number of weights by the model's name (3B: 3 billion times `VISION`, which adds
    the vision tower); None if there is no number in it.
    """
    found = BILLIONS.search(Path(model).name)
    return round(float(found[1]) * 1e9 * VISION) if found else None


def weight_count(model: str) -> int | None:
    """Return the number of weights of a model; None if neither files nor name tell."""
    from distrl.agent.model_directory import saved_type

    if (saved := model_bytes(model)) is None:
        return named_weights(model)
    try:
        return saved // WIDTHS.get(saved_type(_weights_directory(model)), 4)
    except UnusableModel:
        return named_weights(model)
