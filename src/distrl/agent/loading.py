"""Opens a policy by the name of its model; called by the command line and the engines.

A model is a directory, an id on the Hugging Face hub, or "starter" for the shipped one. The dialect
is that of the model's family, unless another is given. An exported policy is also a model, given by
its own directory or that of its run; its adapters are put on the model that they were trained on,
or, if `adapter` is given, on the named model.
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
COMPACT_ANSWER, LONG_ANSWER = 64, 256  # tokens; tool calls and thoughts need the longer limit
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
    """Open a policy that is ready to decide, with defaults for all other settings.

    `dialect`, `max_new_tokens` and `weights` default to what suits the model: on a GPU its weights
    are bfloat16 if they were saved so.
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
    """Open a policy with all its settings. An exported policy keeps the dialect, past actions and
    screens, adapters and critic of its training; a model trained whole can get new adapters.
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
    """Return the `sees` that `open_policy` uses by default for a model, without reading weights."""
    base, adapter = _onto_its_base(model, adapter)
    directory = local_directory(model_path(base))
    family, exported = known_family(directory), adapter or trained_directory(directory)
    if exported is None or len(family.sees) == 1:
        return family.sees[0]
    return read_manifest(exported).sees


def usual_dialect(model: str | Path, adapter: Path | None = None) -> str:
    """Return the dialect `open_policy` uses by default for a model, without reading weights."""
    base, adapter = _onto_its_base(model, adapter)
    directory = local_directory(model_path(base))
    exported = adapter or trained_directory(directory)
    return known_family(directory).dialect if exported is None else read_manifest(exported).dialect


def sees_elements(model: str | Path, adapter: Path | None, sees: Sees | None) -> bool:
    """Return whether a policy reads view hierarchies; `sees` None means `what_it_sees`.

    Return False if the model is not on this machine: then a server decides, or reports the error.
    """
    try:
        return (sees or what_it_sees(model, adapter)) != "screen"
    except NotAModel:
        return False


def input_builder(
    model: str | Path, adapter: Path | None = None, sees: Sees | None = None
) -> InputBuilder:
    """Return the input builder of `open_policy`'s model, without reading weights."""
    base, _ = _onto_its_base(model, adapter)
    return open_inputs(local_directory(model_path(base)), sees or what_it_sees(model, adapter))


def model_path(model: str | Path) -> str | Path:
    """Return the directory or hub id of a name; a directory of that name takes precedence."""
    if (trained := trained_directory(model)) is not None:
        return trained
    if str(model) != STARTER or Path(model).is_dir():
        return model
    return shipped_directory(STARTER_DIRECTORY)


def _onto_its_base(model: str | Path, adapter: Path | None) -> tuple[str | Path, Path | None]:
    """Return model and adapter; an export of adapters becomes its base model and itself."""
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
