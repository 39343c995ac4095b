"""A policy whose model runs behind an OpenAI-compatible endpoint (vLLM, SGLang).

It is for collectors without a GPU. Each observation is one chat completion; those of a batch are
requested concurrently, and the server batches them. Decisions carry the server's own token ids and
log-probabilities: nothing is tokenised again or recomputed.

Requirements on the server, for decisions that a learner may use:

- vLLM 0.10.2 or newer, or an SGLang that knows `return_token_ids` (July 2026 or newer).
- Log-probabilities as sampled. vLLM returns those of temperature 1 unless it was started with
  `--logprobs-mode processed_logprobs`. No request can set or query that, so it is a setting here
  (`log_probs="processed"`), and any temperature but 1 is an error without it. SGLang applies the
  temperature unless it is configured to return the original ones.
- No reasoning or tool parser that takes parts of the answer out of its text.

All other sampling parameters are sent with neutral values, because servers otherwise take top-k,
top-p and penalties from the model's own generation_config.json.

The weight version is read from each answer: SGLang has it in `metadata.weight_version`; a server
that swaps adapters has it in the model's name, `policy-v17`. With `ServedAdapters` the policy is an
`UpdatablePolicy`: it loads new weights into the server, and later requests ask for them.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.prompt import Prompt, Prompter
from distrl.bounds import Bounds, check_bounds
from distrl.chat.chat_server import ChatServer, PictureUrls
from distrl.errors import InvalidSetting, UnusableAnswer, UsageError
from distrl.records import Decision, Observation, Screen

if TYPE_CHECKING:
    from torch import Tensor

    from distrl.agent.served_adapters import ServedAdapters

CONCURRENCY = 64  # requests at once; the others of a batch wait for a free thread
LARGEST_LOG_PROB = 1e-3  # tolerance: rounding can make a log-probability exceed 0
_VERSION_IN_NAME = re.compile(r"[-_@:/]v(\d+)$")


@dataclass(frozen=True, slots=True)
class ServedSampling:
    """How answers are sampled, and what the server returns with them."""

    temperature: Annotated[
        float | None, Bounds(0.0, 100.0, "(above 0; None is greedy)", open=True)
    ] = 1.0
    answer_tokens: Annotated[int, Bounds(1, unit="tokens at most")] = 256
    log_probs: Literal["raw", "processed"] = "raw"  # the mode that the server was started with
    require_tokens: bool = True  # False: decisions may lack tokens, which suffices for evaluation

    def __post_init__(self) -> None:
        check_bounds(self)
        bent = self.temperature not in (None, 1.0) and self.log_probs == "raw"
        if self.require_tokens and bent:
            raise InvalidSetting(
                f"temperature={self.temperature!r} with raw log-probabilities: the server would "
                "return those of temperature 1, and the learner would correct for the wrong "
                "policy. Start vLLM with --logprobs-mode processed_logprobs and say "
                "log_probs='processed', or sample at temperature 1"
            )


def weight_version_of(answer: Mapping[str, Any]) -> int:
    """Return the weight version in an answer's metadata or in its model's name; else 0."""
    metadata = answer.get("metadata")
    stated = metadata.get("weight_version") if isinstance(metadata, dict) else None
    if isinstance(stated, int | str) and str(stated).isdecimal():
        return int(stated)
    return version_in_name(answer.get("model"))


def version_in_name(name: object) -> int:
    """Return the version in a name, such as 17 in `policy-v17`; 0 if there is none."""
    found = _VERSION_IN_NAME.search(name) if isinstance(name, str) else None
    return int(found.group(1)) if found else 0


def in_patches(screen: Screen, patch: int = 28) -> ImageSize:
    """Return the nearest size in whole patches, which a Qwen2.5-VL processor does not resize.

    Pass it to the `Prompter` as `seen_size`: the model then sees exactly the picture that we send,
    and a dialect in pixels uses the right ones.
    """
    width, height = (max(1, round(side / patch)) * patch for side in (screen.width, screen.height))
    return ImageSize(width, height)


class ServedPolicy:
    """Implements `Policy`. `close` it after use; that also closes the `ChatServer`.

    `model`: the name to request; empty: the newest that the server lists, looked up at the first
    decision and again at each `refresh`.
    """

    def __init__(
        self,
        server: ChatServer,
        prompter: Prompter,
        sampling: ServedSampling,
        *,
        model: str = "",
        concurrency: int = CONCURRENCY,
        adapters: ServedAdapters | None = None,
    ) -> None:
        self._server = server
        self._prompter = prompter
        self._sampling = sampling
        self._adapters = adapters
        self._wanted = self._model = adapters.base if adapters else model
        self._version = 0
        self._pictures = PictureUrls()
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="served-policy")

    def close(self) -> None:
        self._server.close()
        self._threads.shutdown()

    @property
    def reads_elements(self) -> bool:
        """Whether it uses the elements of observations."""
        return self._prompter.reads_elements

    @property
    def weight_version(self) -> int:
        """The version that requests ask for."""
        return self._version

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Load adapters into the server; requests in flight keep the old ones."""
        if self._adapters is None:
            raise UsageError(f"{self._server.settings.url} was opened without adapters")
        self._model, self._version = self._adapters.load(weights, version), version

    def refresh(self) -> str:
        """Look for a newer model; return the name that requests will ask for. Call it between
        episodes.
        """
        if not self._wanted:
            listed = self._server.get("/models").get("data")
            names = [entry["id"] for entry in _objects(listed) if isinstance(entry.get("id"), str)]
            if not names:
                raise UnusableAnswer(f"{self._server.settings.url}/models lists no model")
            self._model = max(names, key=version_in_name)  # the first if none has a version
        return self._model

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        if not self._model:
            self.refresh()
        asked = [self._threads.submit(self._decide, observation) for observation in observations]
        try:
            return [future.result() for future in asked]
        finally:
            for future in asked:
                future.cancel()  # if one has failed, the others are not needed

    def _decide(self, observation: Observation) -> Decision:
        answer = self._server.post("/chat/completions", asked := self._request(observation))
        choice = next(iter(_objects(answer.get("choices"))), None)
        if choice is None or not isinstance(choice.get("message"), dict):
            raise UnusableAnswer(
                f"{self._server.settings.url}: an answer without choices: {str(answer)[:300]}"
            )
        text = choice["message"].get("content")
        text = text if isinstance(text, str) else ""  # null for an empty answer
        token_ids, log_probs = self._tokens(choice)
        version = weight_version_of(answer)
        if self._adapters is not None:
            version = version_in_name(asked["model"])
            if answer.get("model") not in (asked["model"], self._adapters.base):
                raise UnusableAnswer(
                    f"{self._server.settings.url}: {asked['model']} was asked and "
                    f"{answer.get('model')!r} answered; see which adapters the server has loaded"
                )
        return Decision(
            action=self._prompter.read(text, observation),
            text=text,
            token_ids=token_ids,
            log_probs=log_probs,
            weight_version=version,
        )

    def _request(self, observation: Observation) -> dict[str, Any]:
        temperature = self._sampling.temperature
        return {
            "model": self._model,
            "messages": self._messages(self._prompter.write(observation)),
            "max_tokens": self._sampling.answer_tokens,
            "temperature": 0.0 if temperature is None else temperature,
            "top_p": 1.0,
            "top_k": -1,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "n": 1,
            "stream": False,
            "logprobs": True,
            "return_token_ids": True,
        }

    def _messages(self, prompt: Prompt) -> list[dict[str, Any]]:
        size = self._prompter.seen_size
        urls = [self._pictures.url(screen, size(screen)) for screen in prompt.screens]
        content = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        user = {"role": "user", "content": [*content, {"type": "text", "text": prompt.text}]}
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        return [*system, user]

    def _tokens(self, choice: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the answer's token ids and log-probabilities, after checking both."""
        ids = choice.get("token_ids")
        scored = choice.get("logprobs")
        entries = _objects(scored.get("content") if isinstance(scored, dict) else None)
        log_probs: list[Any] = [entry.get("logprob") for entry in entries]
        wrong = _fault_in_tokens(ids, log_probs)
        if not wrong and isinstance(ids, list):
            return tuple(ids), tuple(float(value) for value in log_probs)
        if self._sampling.require_tokens:
            raise UnusableAnswer(
                f"{self._server.settings.url}: {wrong}. A learner needs every token of an answer "
                "with its log-probability: serve with vLLM 0.10.2 or newer, or an SGLang that "
                "knows return_token_ids; for evaluation alone, say require_tokens=False"
            )
        return (), ()


def _objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a JSON list; [] if the value is no list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _fault_in_tokens(ids: object, log_probs: Sequence[object]) -> str:
    """Return what is wrong with the tokens of an answer; "" if they are valid."""
    if not isinstance(ids, list) or not ids:
        return "an answer without token ids"
    if not all(type(token) is int and token >= 0 for token in ids):
        return f"token ids that are no numbers: {str(ids)[:80]}"
    if len(ids) != len(log_probs):
        return f"{len(ids)} token ids with {len(log_probs)} log-probabilities"
    for value in log_probs:
        if not isinstance(value, int | float) or not -sys.float_info.max <= value < math.inf:
            return f"a log-probability that is no number: {str(value)[:80]}"
        if value > LARGEST_LOG_PROB:
            return f"a log-probability above 0: {value!r}"
    return ""
