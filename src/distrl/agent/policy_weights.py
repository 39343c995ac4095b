"""Exports a trained policy to a directory, as an adapter that PEFT reads or as a whole model.

    policy.json            the manifest: version of the weights, base model, sizes, checksums
    adapter_config.json    } if adapters were trained; they fit only the base model that
    adapter_model.safetensors  } policy.json names: its fingerprint is compared
    config.json, model.safetensors, tokenizer …   if the whole model was trained: a model itself
    critic.safetensors     the value heads
    projector.safetensors  the screen projector, if a language model was given pictures

The directory is written under a hidden name and then renamed, so it is complete or absent. Reading
trusts nothing and runs no code; every problem raises `CorruptModel` with the reason.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from distrl.agent.critic import CriticSettings
from distrl.agent.export_directory import CRITIC_FILE, MANIFEST, atomic_directory
from distrl.agent.lora import LoraSettings, peft_config
from distrl.agent.model_directory import load_weights, quiet_transformers, read_config
from distrl.agent.prompt import Sees
from distrl.agent.vlm_policy import CRITIC, POLICY, PROJECTOR, VlmPolicy
from distrl.errors import CorruptModel, UsageError

FORMAT, FORMAT_VERSION = "distrl policy", 1
ADAPTER_FILE = "adapter_model.safetensors"
PROJECTOR_FILE, READER = "projector.safetensors", "screen_reader"  # READER: metadata, a digest
COMPANIONS = ("*.json", "*.jinja", "*.txt", "*.model")  # tokenizer, image processor, templates
FINGERPRINT_VALUES = 16  # values of each weight; enough to tell models of one shape apart

Kind = Literal["adapters", "whole"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of policy.json."""

    kind: Kind
    weight_version: int
    base_model: str  # the directory or name that the model was opened by
    base_fingerprint: str
    dialect: str  # this and the next two: prompts as in training, to be used for decisions, too
    past_actions: int
    past_screens: int
    lora: LoraSettings | None
    critic: CriticSettings
    files: dict[str, str]  # checksum by name
    sees: Sees = "screen"  # missing from older manifests


def export_policy(policy: VlmPolicy, directory: Path, version: int | None = None) -> None:
    """Write the policy's trained weights to a new directory.

    Without `version`, the weights get the version that the policy loaded last.
    """
    if directory.exists():
        raise UsageError(f"{directory} is there already; export to a directory of its own")
    with atomic_directory(directory) as unfinished:
        _write(policy, unfinished, policy.weight_version if version is None else version)


def load_exported(policy: VlmPolicy, directory: Path) -> int:
    """Load exported weights into a policy; return their version."""
    manifest = read_manifest(directory)
    if manifest.kind == "adapters" and fingerprint(policy.network) != manifest.base_fingerprint:
        raise CorruptModel(
            f"{directory} goes onto {manifest.base_model}, and this policy's model is another one "
            f"({policy.directory}); open the policy with the model of the adapter"
        )
    try:
        critic = load_file(directory / CRITIC_FILE)
        weights = {f"{CRITIC}{name}": each for name, each in critic.items()}
        weights |= _policy_weights(policy, directory, manifest)
        weights |= _projector_weights(policy, directory, manifest)
        policy.load_weights(weights, manifest.weight_version)
    except (UsageError, SafetensorError, OSError) as error:
        raise CorruptModel(f"{directory} does not fit this policy: {error}") from error
    return manifest.weight_version


def adapter_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the adapters among a policy's weights, by PEFT's names."""
    return {_peft_name(name): each for name, each in _part(weights, POLICY).items()}


def read_manifest(directory: Path) -> Manifest:
    """Read and check policy.json; raise `CorruptModel` if a file is not as it was written."""
    try:
        found = json.loads((directory / MANIFEST).read_text("utf-8"))
        if found.pop("checksum", None) not in (None, _digest(found)):
            raise ValueError("its checksum does not match")
        name, version = found.pop("format"), found.pop("format_version")
        lora = found.pop("lora")
        critic = CriticSettings(**found.pop("critic"))
        manifest = Manifest(**found, lora=LoraSettings(**lora) if lora else None, critic=critic)
        files = dict(manifest.files)
        counts = (manifest.weight_version, manifest.past_actions, manifest.past_screens)
        known = manifest.kind in ("adapters", "whole") and manifest.sees in get_args(Sees)
        if not known or not all(type(n) is int for n in counts):
            raise ValueError(f"kind={manifest.kind!r}, version and past {counts!r}")
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CorruptModel(f"{directory / MANIFEST} cannot be read: {error!r}") from error
    if (name, version) != (FORMAT, FORMAT_VERSION):
        raise CorruptModel(
            f"{directory} is a {name!r} of version {version!r}, this reads {FORMAT_VERSION}"
        )
    for file, checksum in files.items():
        if not (directory / file).is_file() or _checksum(directory / file) != checksum:
            raise CorruptModel(
                f"{directory / file} is gone or not as it was written; copy or export it again"
            )
    return manifest


def fingerprint(network: PreTrainedModel) -> str:
    """Return an identifier of a base model, independent of its adapters and its dtype."""
    digest = hashlib.blake2b(digest_size=16)
    for name, parameter in sorted(network.named_parameters()):
        if ".lora_" not in name:
            some = parameter.detach().flatten()[:FINGERPRINT_VALUES].to("cpu", torch.bfloat16)
            plain = name.replace(".base_layer.", ".")
            digest.update(f"{plain} {tuple(parameter.shape)} {some.tolist()}\n".encode())
    return digest.hexdigest()


def _write(policy: VlmPolicy, directory: Path, version: int) -> None:
    weights = policy.weights()
    save_file(_part(weights, CRITIC), directory / CRITIC_FILE)
    if policy.projector is not None:
        reader = {READER: policy.projector.reader.digest}
        save_file(_part(weights, PROJECTOR), directory / PROJECTOR_FILE, metadata=reader)
    if policy.lora is None:
        with quiet_transformers():
            policy.network.save_pretrained(directory)
        _copy_companions(policy.directory, directory)
    else:
        config = peft_config(policy.lora)
        config.base_model_name_or_path = str(policy.directory)
        config.inference_mode = True
        config.save_pretrained(str(directory))
        save_file(adapter_weights(weights), directory / ADAPTER_FILE, metadata={"format": "pt"})
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": "whole" if policy.lora is None else "adapters",
        "weight_version": version,
        "base_model": str(policy.directory),
        "base_fingerprint": fingerprint(policy.network),
        "dialect": policy.prompter.dialect.name,
        "past_actions": policy.prompter.past_actions,
        "past_screens": policy.prompter.past_screens,
        "sees": policy.prompter.sees,
        "lora": asdict(policy.lora) if policy.lora else None,
        "critic": asdict(policy.critic.settings),
        "files": {
            each.name: _checksum(each) for each in sorted(directory.iterdir()) if each.is_file()
        },
    }
    manifest["checksum"] = _digest(manifest)
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")


def _copy_companions(source: Path, directory: Path) -> None:
    """Copy the small files beside the weights (tokenizer, processor), except those just written.

    The manifest of a source that is an export itself is not copied: it describes other files.
    """
    for pattern in COMPANIONS:
        for file in source.glob(pattern):
            copied = file.name != MANIFEST and "safetensors" not in file.name
            if copied and not (directory / file.name).exists():
                shutil.copyfile(file, directory / file.name)


def _policy_weights(policy: VlmPolicy, directory: Path, manifest: Manifest) -> dict[str, Tensor]:
    if manifest.kind == "adapters":
        named = load_file(directory / ADAPTER_FILE)
        return {f"{POLICY}{_own_name(name)}": each for name, each in named.items()}
    if policy.lora is not None:  # new adapters on a model that was trained as a whole
        return {n: each for n, each in policy.weights().items() if n.startswith(POLICY)}
    model = load_weights(directory, read_config(directory), policy.network.dtype)
    named = {name: each.detach() for name, each in model.named_parameters()}
    for name, mine in policy.network.named_parameters():
        kept = mine.detach().cpu()
        if not mine.requires_grad and not torch.equal(named.pop(name, kept), kept):
            raise UsageError(f"{name}, which no training changes, is not that of {directory}")
    return {f"{POLICY}{name}": each for name, each in named.items()}


def _projector_weights(policy: VlmPolicy, directory: Path, manifest: Manifest) -> dict[str, Tensor]:
    """Return the exported projector's weights; the policy's own if the export has none; {} for a
    policy without a projector.
    """
    if policy.projector is None:
        return {}
    if PROJECTOR_FILE not in manifest.files:
        return {n: each for n, each in policy.weights().items() if n.startswith(PROJECTOR)}
    with safe_open(directory / PROJECTOR_FILE, framework="pt") as file:
        if (file.metadata() or {}).get(READER) != policy.projector.reader.digest:
            raise UsageError(
                f"its {PROJECTOR_FILE} was trained behind another screen reader than the one of "
                "this installation; install the version that trained it"
            )
    named = load_file(directory / PROJECTOR_FILE)
    return {f"{PROJECTOR}{name}": each for name, each in named.items()}


def _part(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): each.contiguous()
        for name, each in weights.items()
        if name.startswith(prefix)
    }


def _peft_name(name: str) -> str:
    """Return PEFT's name: without the adapter's own name, with PEFT's wrappers as prefix."""
    return "base_model.model." + name.replace(".default.", ".")


def _own_name(name: str) -> str:
    plain = name.removeprefix("base_model.model.")
    return plain.replace(".lora_A.", ".lora_A.default.").replace(".lora_B.", ".lora_B.default.")


def _digest(manifest: Mapping[str, object]) -> str:
    text = json.dumps(manifest, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
