"""Pretrains the starter model and saves it to a directory: the work of `distrl imitate`.

The directory is a Hugging Face model (config.json, model.safetensors in bfloat16, tokenizer) that
every part of DistRL opens by its path, with the learning curve and the settings beside it. With
`start`, training continues from a saved model; with `freeze_encoder`, its encoder, which reads the
screen, is frozen. During training the latest validated model is saved next to that directory
(`unfinished`). A run that was killed leaves it behind, and it can be opened like any other model.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from distrl.agent.export_directory import atomic_directory
from distrl.agent.starter.building import new_model
from distrl.agent.starter.model import StarterModel
from distrl.agent.starter.vocabulary import build_tokenizer, tokens
from distrl.errors import UsageError, storage_error
from distrl.imitation.imitation import (
    Imitation,
    ImitationSettings,
    Progress,
    make_validation_set,
    recipe_of,
)
from distrl.imitation.sample_arrays import bytes_per_sample
from distrl.imitation.sample_stream import SLAB, SLABS, open_stream
from phonesim.drawing.icons import ICONS

VALIDATION_SEED = 77  # phones and texts that no training sample has
GIGABYTE = 1e9
CURVE, SETTINGS = "curve.json", "imitation.json"


def pretrain(
    settings: ImitationSettings,
    directory: Path,
    *,
    device: str = "cpu",
    sizes: Mapping[str, int] | None = None,
    start: Path | None = None,
    seen: Callable[[Progress], None] = lambda progress: None,
) -> list[Progress]:
    """Train a model and save it; call `seen` with each point of the learning curve; return it."""
    _check_device(device)
    try:  # fail before training: the directory is written at the end
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise UsageError(f"{directory} is not empty; give a directory that is not there yet")
    except OSError as error:
        raise storage_error(error, f"making {directory} for the model") from error
    model = new_model(ICONS, settings.seed, **dict(sizes or {})) if start is None else _read(start)
    model.encoder.requires_grad_(not settings.freeze_encoder)
    recipe = recipe_of(settings, model)
    on_test = dataclasses.replace(
        recipe,
        split="test",
        slip_rate=0.0,
        fresh_words=0.0,
        grounding=0.0,
        seed=VALIDATION_SEED,
    )
    validation_set = make_validation_set(
        on_test, settings.validation_set, settings.processes, torch.device("cpu")
    )
    curve: list[Progress] = []
    words = tokens()

    def noted(progress: Progress) -> None:
        named = {words[int(number)]: share for number, share in progress.by_word.items()}
        curve.append(dataclasses.replace(progress, by_word=named))
        seen(curve[-1])

    # Fork the workers before the first use of the GPU: CUDA contexts do not survive a fork.
    with open_stream(recipe, settings.processes) as stream:
        placed: Any = model.to(torch.device(device))  # type: ignore[arg-type]
        if placed.device.type == "cuda":
            placed.to(torch.bfloat16)
            placed.encoder.screen_reader.to(memory_format=torch.channels_last)
        kept = unfinished(directory)

        def keep(averaged: StarterModel) -> None:
            shutil.rmtree(kept, ignore_errors=True)
            save(copy.deepcopy(averaged), kept)

        imitation = Imitation(placed, settings, noted, keep)
        imitation.run(stream, {name: tensor.to(device) for name, tensor in validation_set.items()})
    imitation.take_average()
    save(placed, directory)
    _write(directory / CURVE, [dataclasses.asdict(progress) for progress in curve])
    _write(directory / SETTINGS, dataclasses.asdict(settings))
    shutil.rmtree(kept, ignore_errors=True)
    return curve


def unfinished(directory: Path) -> Path:
    """Return the directory of the latest validated model of an unfinished run."""
    return directory.with_name(f"{directory.name}-unfinished")


def settings_for(device: str, cores: int) -> ImitationSettings:
    """Return the settings of the shipped model for a GPU; for a CPU, a short run to try it out."""
    settings = ImitationSettings(processes=min(ImitationSettings().processes, max(1, cores - 1)))
    if device != "cpu":
        return settings
    return dataclasses.replace(
        settings,
        steps=200,
        batch=16,
        reservoir=2_048,
        fill=512,
        validation_set=64,
        validate_every=25,
    )


def check_memory(settings: ImitationSettings, device: str, available: int) -> None:
    """Raise `UsageError` if the samples need more than `available` bytes, to avoid an OOM kill."""
    samples = settings.validation_set + settings.processes * SLABS * SLAB
    samples += settings.reservoir if device == "cpu" else 0
    if (needed := samples * bytes_per_sample()) > available:
        raise UsageError(
            f"{samples:,} samples in memory take {needed / GIGABYTE:.1f} GB, and this machine has "
            f"{available / GIGABYTE:.1f} GB; lower reservoir, validation_set or processes in the "
            "--config file"
        )


def _read(start: Path) -> StarterModel:
    """Load a saved model in float32."""
    try:
        model = StarterModel.from_pretrained(start, dtype=torch.float32, local_files_only=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"{start} holds no starter model to go on with: {error}") from error
    return model


def save(model: StarterModel, directory: Path) -> None:
    """Write a model in bfloat16 with its tokenizer, atomically."""
    with atomic_directory(directory) as unfinished:
        halved: Any = model.to(torch.bfloat16)  # type: ignore[arg-type]
        halved.save_pretrained(unfinished)
        build_tokenizer().save_pretrained(unfinished)
        unfinished.chmod(0o755)
        for file in unfinished.iterdir():
            file.chmod(0o644)  # readable by all, not only by the owner


def _check_device(device: str) -> None:
    """Raise `UsageError` for a missing device before an hour is spent on making samples."""
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise UsageError(
            f"no device is called {device!r}; there are cpu, cuda, cuda:1, …"
        ) from error
    if kind == "cuda" and not torch.cuda.device_count():
        raise UsageError(f"--device {device}: there is no GPU that torch can use; take cpu")


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
