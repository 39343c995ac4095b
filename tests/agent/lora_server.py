"""A strict stand-in for vLLM and SGLang with adapters: real HTTP, and a tiny model that answers.

It keeps to what these servers publish of their protocols: paths, fields, plain text or JSON, names
of models, refusals. Adapters are read from their directories by PEFT itself. A field that it does
not know, or lacks, is a refusal.
"""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from peft import PeftModel
from PIL import Image

from distrl.agent.answer_sampling import SamplingSettings, sample_answers
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.model_directory import open_model
from distrl.agent.policy_builder import vlm_policy
from distrl.agent.prompt import Prompt
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.records import Screen

BASE = "tiny/base"
REQUEST = {
    "model", "messages", "max_tokens", "temperature", "top_p", "top_k", "min_p", "n", "stream",
    "repetition_penalty", "presence_penalty", "frequency_penalty", "logprobs", "return_token_ids",
}  # fmt: skip


class Refusal(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


@dataclass
class LoraServer:
    """The server's state. `temperature_applied` false: raw log-probabilities, as vLLM's default."""

    kind: Literal["vllm", "sglang"]
    directory: Path  # of the model
    lora: bool = True  # started so that adapters can be loaded
    temperature_applied: bool = True
    adapters: dict[str, VlmPolicy] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # models, in the order of requests
    unloaded: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.base = self._policy(None)
        self.rng = torch.Generator().manual_seed(0)

    def _policy(self, adapter: Path | None) -> VlmPolicy:
        opened = open_model(self.directory)
        if adapter is not None:
            PeftModel.from_pretrained(opened.model, str(adapter))  # goes into the model itself
        return vlm_policy(opened, COMPACT, VlmSettings())

    # The calls ----------------------------------------------------------------------------------

    def models(self) -> dict[str, Any]:
        base = {"id": BASE, "object": "model", "owned_by": self.kind, "parent": None}
        loaded = [
            {"id": name, "object": "model", "owned_by": self.kind, "parent": BASE}
            for name in self.adapters
        ]
        return {"object": "list", "data": [base, *loaded]}

    def post(self, path: str, asked: dict[str, Any]) -> str:
        prefix = "/v1" if self.kind == "vllm" else ""
        with self.lock:
            if path == "/v1/chat/completions":
                return json.dumps(self._complete(asked))
            if self.lora and path == f"{prefix}/load_lora_adapter":
                return self._load(asked)
            if self.lora and path == f"{prefix}/unload_lora_adapter":
                return self._unload(asked)
        raise Refusal(404, json.dumps({"detail": "Not Found"}))

    def _load(self, asked: dict[str, Any]) -> str:
        if set(asked) != {"lora_name", "lora_path"}:
            raise Refusal(422, f"fields {sorted(asked)}")
        name, path = asked["lora_name"], Path(asked["lora_path"])
        if name in self.adapters:
            raise Refusal(400, self._failure(f"The lora adapter '{name}' has already been loaded."))
        if not (path / "adapter_config.json").is_file():
            raise Refusal(
                404 if self.kind == "vllm" else 400, self._failure(f"No adapter in {path}")
            )
        self.adapters[name] = self._policy(path)
        return self._success(f"Success: LoRA adapter '{name}' added successfully.")

    def _unload(self, asked: dict[str, Any]) -> str:
        if set(asked) != {"lora_name"}:
            raise Refusal(422, f"fields {sorted(asked)}")
        if asked["lora_name"] not in self.adapters:
            status = 404 if self.kind == "vllm" else 400
            raise Refusal(status, self._failure("The lora adapter cannot be found: not loaded."))
        del self.adapters[asked["lora_name"]]
        self.unloaded.append(asked["lora_name"])
        return self._success("Success: LoRA adapter removed successfully.")

    def _success(self, said: str) -> str:
        if self.kind == "vllm":
            return said  # plain text
        return json.dumps({"success": True, "error_message": "", "loaded_adapters": {}})

    def _failure(self, said: str) -> str:
        if self.kind == "vllm":
            return json.dumps({"error": {"message": said, "type": "InvalidUserInput"}})
        return json.dumps({"success": False, "error_message": said})

    def _complete(self, asked: dict[str, Any]) -> dict[str, Any]:
        if set(asked) != REQUEST:
            raise Refusal(422, f"fields {sorted(set(asked) ^ REQUEST)}")
        self.asked.append(asked["model"])
        policy = self._named(asked["model"])
        sampling = SamplingSettings(asked["temperature"], asked["max_tokens"])
        inputs = policy.builder.build([_prompt(asked["messages"])])
        with torch.inference_mode():
            decoding = policy.architecture.begin(inputs.tensors, asked["max_tokens"])
            [answer] = sample_answers(decoding, policy._ends, sampling, self.rng)
        log_probs = answer.log_probs
        if not self.temperature_applied:
            log_probs = tuple(value * asked["temperature"] for value in log_probs)
        scored = [{"token": "?", "logprob": value, "top_logprobs": []} for value in log_probs]
        choice = {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": policy.builder.answers.decode(answer.token_ids),
            },
            "finish_reason": "stop",
            "logprobs": {"content": scored},
            "token_ids": list(answer.token_ids),
        }
        return {
            "id": "1",
            "object": "chat.completion",
            "model": asked["model"],
            "choices": [choice],
        }

    def _named(self, model: str) -> VlmPolicy:
        name = model.removeprefix(f"{BASE}:") if self.kind == "sglang" else model
        if model == BASE:
            return self.base
        if name not in self.adapters or (self.kind == "sglang" and name == model):
            raise Refusal(404, self._failure(f"The model `{model}` does not exist."))
        return self.adapters[name]


def _prompt(messages: list[dict[str, Any]]) -> Prompt:
    system = messages[0]["content"] if messages[0]["role"] == "system" else ""
    parts = messages[-1]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    [text] = [part["text"] for part in parts if part["type"] == "text"]
    return Prompt(system, text, tuple(map(_screen, urls)))


def _screen(url: str) -> Screen:
    content = base64.b64decode(url.removeprefix("data:image/png;base64,"), validate=True)
    return Screen(np.array(Image.open(io.BytesIO(content)).convert("RGB")))


@contextmanager
def serving_adapters(server: LoraServer) -> Iterator[str]:
    """The url of a server at work, up to and with /v1."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply(200, json.dumps(server.models()))

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                self.reply(200, server.post(self.path, asked))
            except Refusal as refusal:
                self.reply(refusal.status, str(refusal))

        def reply(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """A test's output is not the place."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}/v1"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
