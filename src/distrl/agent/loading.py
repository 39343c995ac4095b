"""A policy by the name of its model: what the command line and the engines call.

A model is a directory, an id on the Hugging Face hub, or "starter" for the one that ships with us.
The dialect is that of the model's family, unless another is given. An exported policy is a model,
too, by its own directory or that of its run; its adapters go onto the model that they were trained
on, or with `adapter` onto one that is named.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.dialects import dialect_named
from distrl.agent.export_directory import trained_directory
from distrl.agent.families.model_family import InputBuilder
from distrl.agent.model_directory import (
    known_family,
    local_directory,
    open_inputs,
    open_model,
    saved_type,
)
from distrl.agent.policy_builder import vlm_policy
from distrl.agent.policy_weights import load_exported, read_manifest
from distrl.agent.prompt import Sees
from distrl.agent.starter.building import SHIPPED, shipped_directory
from distrl.agent.torch_device import require_device
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings, WeightType
from distrl.errors import NotAModel

STARTER = "starter"
STARTER_DIRECTORY = SHIPPED
COMPACT_ANSWER, LONG_ANSWER = 64, 256  # tokens; tool calls and thoughts are wordy
TERSE_DIALECTS = ("compact", "elements")


def load_policy(
    model: str | Path,
    *,
    device: str = "cpu",
    weights: WeightType | None = None,
    greedy: bool = False,
    temperature: float = 1.0,
    max_new_tokens: int | None = None,
    dialect: str | None = None,
    adapter: Path | None = None,
    sees: Sees | None = None,
    seed: int = 0,
) -> VlmPolicy:
    """A policy that is ready to decide, with nothing else to choose.

    Without `dialect`, `max_new_tokens` and `weights` they are what goes with the model: on a GPU
    its weights are bfloat16 if they were saved so.
    """
    model, adapter = _onto_its_base(model, adapter)
    directory = local_directory(model_path(model))
    if weights is None:
        on_gpu = device != "cpu" and saved_type(directory) == "bfloat16"
        weights = "bfloat16" if on_gpu else "float32"
    sampling = SamplingSettings(temperature, max_new_tokens or LONG_ANSWER, greedy)
    settings = VlmSettings(sampling=sampling, device=device, weights=weights, seed=seed)
    policy = open_policy(directory, settings, dialect=dialect, adapter=adapter, sees=sees)
    if max_new_tokens is None and policy.prompter.dialect.name in TERSE_DIALECTS:
        policy.sampling = replace(sampling, max_new_tokens=COMPACT_ANSWER)
    return policy


def open_policy(
    model: str | Path,
    settings: VlmSettings,
    *,
    dialect: str | None = None,
    adapter: Path | None = None,
    sees: Sees | None = None,
) -> VlmPolicy:
    """A policy with all its settings. What was exported is asked as it was while it learned,
    and brings its own adapters and critic; a model that was trained as a whole can get new ones.
    """
    require_device(settings.device)
    dtype = getattr(torch, settings.weights)
    model, adapter = _onto_its_base(model, adapter)
    directory = local_directory(model_path(model))
    exported = adapter or trained_directory(directory)
    if exported is not None:
        manifest = read_manifest(exported)
        dialect, sees = dialect or manifest.dialect, sees or manifest.sees
        settings = replace(
            settings,
            past_actions=manifest.past_actions,
            past_screens=manifest.past_screens,
            lora=settings.lora if manifest.kind == "whole" else manifest.lora,
            critic=manifest.critic,
        )
    opened = open_model(directory, dtype, sees)
    policy = vlm_policy(opened, dialect_named(dialect or opened.family.dialect), settings)
    if exported is not None:
        load_exported(policy, exported)
    return policy


def what_it_sees(model: str | Path, adapter: Path | None = None) -> Sees:
    """What `open_policy` gives the model of a screen, unless it is told; no weights are read."""
    base, adapter = _onto_its_base(model, adapter)
    directory = local_directory(model_path(base))
    family, exported = known_family(directory), adapter or trained_directory(directory)
    if exported is None or len(family.sees) == 1:
        return family.sees[0]
    return read_manifest(exported).sees


def usual_dialect(model: str | Path, adapter: Path | None = None) -> str:
    """The dialect in which `open_policy` asks the model, unless it is told; no weights are read."""
    base, adapter = _onto_its_base(model, adapter)
    directory = local_directory(model_path(base))
    exported = adapter or trained_directory(directory)
    return known_family(directory).dialect if exported is None else read_manifest(exported).dialect


def sees_elements(model: str | Path, adapter: Path | None, sees: Sees | None) -> bool:
    """Does it read the view hierarchy of each screen? `sees`: as it was told; None: `what_it_sees`.

    Where the model is not on this machine, a server decides, or says what is wrong with it.
    """
    try:
        return (sees or what_it_sees(model, adapter)) != "screen"
    except NotAModel:
        return False


def input_builder(
    model: str | Path, adapter: Path | None = None, sees: Sees | None = None
) -> InputBuilder:
    """What makes the inputs of `open_policy`'s model, without its weights."""
    base, _ = _onto_its_base(model, adapter)
    return open_inputs(local_directory(model_path(base)), sees or what_it_sees(model, adapter))


def model_path(model: str | Path) -> str | Path:
    """The directory or hub id of a name; a directory of that name comes first."""
    if (trained := trained_directory(model)) is not None:
        return trained
    if str(model) != STARTER or Path(model).is_dir():
        return model
    return shipped_directory(STARTER_DIRECTORY)


def _onto_its_base(model: str | Path, adapter: Path | None) -> tuple[str | Path, Path | None]:
    """Adapters alone mean the model that they were trained on, with them on top."""
    if adapter is not None:
        return model, trained_directory(adapter) or adapter
    trained = trained_directory(model)
    if trained is None or (manifest := read_manifest(trained)).kind == "whole":
        return model, None
    if not Path(manifest.base_model).is_dir():
        raise NotAModel(
            f"{trained} holds adapters for the model in {manifest.base_model}, which is not there; "
            f"give the model where it lies now, and {trained} as the adapter"
        )
    return manifest.base_model, trained
