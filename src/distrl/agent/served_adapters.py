"""Loads each version of the adapters into a running model server, through its own API.

    vLLM     POST /v1/load_lora_adapter and /v1/unload_lora_adapter, requested as the model NAME;
             start it with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True
    SGLang   POST /load_lora_adapter and /unload_lora_adapter, requested as the model BASE:NAME;
             start it with --enable-lora, --max-lora-rank and --lora-target-modules

Each version is written once as a PEFT directory, which the server reads: it must see `folder` under
the same path. The name contains a digest of the content, so that a name that is already loaded has
the same weights, whoever loaded it. Versions before the last `KEPT` are unloaded and deleted. The
kind of server is taken from `owned_by` in its list of models.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from distrl.agent.export_directory import atomic_directory
from distrl.agent.lora import LoraSettings, peft_config
from distrl.agent.policy_weights import ADAPTER_FILE, adapter_weights
from distrl.chat.chat_server import ChatServer
from distrl.errors import RequestRefused, UnusableAnswer

KEPT = 4  # versions that the server holds; collectors lag by one or two
ADVICE = {
    "vllm": "start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True",
    "sglang": "start SGLang with --enable-lora, --max-lora-rank and --lora-target-modules",
}


class ServedAdapters:
    """The adapters of one run on one server."""

    def __init__(self, server: ChatServer, folder: Path, lora: LoraSettings) -> None:
        self._server = server
        self._folder = folder.resolve()
        self._lora = lora
        self._kind, self.base = _base_model(server)
        self._loaded: list[str] = []  # names that this process loaded, oldest first

    def load(self, weights: Mapping[str, Tensor], version: int) -> str:
        """Load a version into the server; return the model name to request it by."""
        path = self._write(weights, version)
        try:
            self._tell("load_lora_adapter", lora_name=path.name, lora_path=str(path))
        except RequestRefused as error:
            if error.status != 400 or "already" not in str(error):  # else another collector did
                raise RequestRefused(
                    f"the adapter {path.name} could not be handed over: {error}. "
                    f"{ADVICE[self._kind]}, and let it read {self._folder}",
                    error.status,
                ) from error
        self._loaded.append(path.name)
        for old in self._loaded[:-KEPT]:
            with suppress(RequestRefused):  # another collector may have unloaded it
                self._tell("unload_lora_adapter", lora_name=old)
            shutil.rmtree(self._folder / old, ignore_errors=True)
        self._loaded = self._loaded[-KEPT:]
        return path.name if self._kind == "vllm" else f"{self.base}:{path.name}"

    def _tell(self, call: str, **body: str) -> None:
        self._server.tell(f"/{call}" if self._kind == "vllm" else f"/../{call}", body)

    def _write(self, weights: Mapping[str, Tensor], version: int) -> Path:
        """Return the PEFT directory of these weights; write it if no collector has done so."""
        adapter = adapter_weights(weights)
        content = save(adapter, metadata={"format": "pt"})
        digest = hashlib.blake2b(content, digest_size=6).hexdigest()
        directory = self._folder / f"distrl-{digest}-v{version}"
        if not directory.exists():
            modules = sorted({name.split(".lora_")[0].rpartition(".")[2] for name in adapter})
            config = peft_config(replace(self._lora, targets=""))
            config.target_modules, config.base_model_name_or_path = modules, self.base
            config.inference_mode = True
            try:
                with atomic_directory(directory) as unfinished:
                    config.save_pretrained(str(unfinished))
                    (unfinished / ADAPTER_FILE).write_bytes(content)
            except OSError:
                if not directory.exists():  # otherwise another collector has just written it
                    raise
        return directory


def _base_model(server: ChatServer) -> tuple[str, str]:
    """Return the kind of server ("vllm" or "sglang") and the name of its base model."""
    listed = server.get("/models").get("data")
    entries: list[dict[str, Any]] = [
        each for each in (listed if isinstance(listed, list) else []) if isinstance(each, dict)
    ]
    bases = [each for each in entries if not each.get("parent")]
    kind = str(bases[0].get("owned_by")) if bases else ""
    if kind not in ADVICE or not isinstance(bases[0].get("id"), str):
        raise UnusableAnswer(
            f"{server.settings.url}/models names neither vLLM nor SGLang as the owner of a model "
            f"({kind!r}); only these are known to load adapters while they serve"
        )
    return kind, str(bases[0]["id"])
