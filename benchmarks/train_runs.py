"""`distrl train` as a process of its own, for benchmarks that watch or hurt one from outside."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from distrl.agent.starter.building import new_model
from distrl.imitation.pretraining import save
from phonesim.drawing.icons import ICONS

COMMAND = [sys.executable, "-c", "from distrl.cli.main import main; main()", "train"]
SIZES = {"width": 48, "heads": 4, "reader_width": 16, "encoder_layers": 1, "decoder_layers": 1}


def set_words(settings: Mapping[str, object]) -> list[str]:
    """The settings as words of the command."""
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def tiny_model(folder: Path) -> Path:
    """A model so small that a restart costs seconds."""
    save(new_model(ICONS, 0, **SIZES), folder / "model")
    return folder / "model"
