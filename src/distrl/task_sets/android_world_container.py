"""An HTTP client for the container of AndroidWorld. Its server listens on port 5000:

    docker run --privileged -p 127.0.0.1:5000:5000 android_world:latest

It has no authentication, so expose it only on loopback or in a closed network. Every call has a
deadline, however slowly the response arrives, and every response a size limit. Calls that only read
are retried when a connection breaks; calls that act are not, because the action may have been
performed. Failures are typed: `DeviceTimeout`, `DeviceDisconnected`. Screens are sent as nested
lists of numbers, because the server offers nothing else.
"""

from __future__ import annotations

import json
import time
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
import numpy as np

from distrl.errors import DeviceDisconnected, DeviceTimeout, InvalidSetting, UnknownTask
from distrl.records import Pixels

T = TypeVar("T")
LOCAL = "http://127.0.0.1:5000"
DEADLINE_S = 60.0  # of a call
SET_UP_S = 300.0  # of a call that restores apps: initialise, tear down, new suites
LOOKS = 3  # tries of a call that only reads
MAX_QUOTE = 300
MAX_ANSWER = 128 * 2**20  # bytes; a screen of 1440 × 3200 pixels has 70 million as numbers
MAX_COMBINATIONS = 10_000  # of parameters of a task
MAX_GOAL = 10_000  # characters


class AndroidWorldContainer:
    """A client of one container. `open` it; its phone closes it. Not thread-safe."""

    def __init__(self, url: str, client: httpx.Client, deadline_s: float, set_up_s: float) -> None:
        self._url = url
        self._client = client
        self._deadline_s = deadline_s
        self._set_up_s = set_up_s

    @classmethod
    def open(
        cls, url: str = LOCAL, deadline_s: float = DEADLINE_S, set_up_s: float = SET_UP_S
    ) -> Self:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidSetting(f"AndroidWorld url {url!r}; give one like {LOCAL}")
        client = httpx.Client(base_url=url, trust_env=False)
        container = cls(url, client, deadline_s, set_up_s)
        container._look("/health")
        return container

    def new_suite(self, seed: int, combinations: int = 1) -> None:
        """Draw new parameters for all tasks, `combinations` of each."""
        drawn = {"n_task_combinations": combinations, "seed": seed}
        self._call("GET", "/suite/reinitialize", drawn, deadline_s=self._set_up_s)

    def task_types(self) -> list[str]:
        return self._asked("/suite/task_list", {"max_index": -1}, "task_list", list[str])

    def combinations(self, task_type: str) -> int:
        found = self._asked("/suite/task_length", {"task_type": task_type}, "length", int)
        if not 0 <= found <= MAX_COMBINATIONS:
            raise self._strange("/suite/task_length", found)
        return found

    def goal(self, task_type: str, number: int) -> str:
        found = self._asked("/task/goal", _named(task_type, number), "goal", str)
        if len(found) > MAX_GOAL:
            raise self._strange("/task/goal", found)
        return found

    def initialise(self, task_type: str, number: int) -> None:
        named = _named(task_type, number)
        self._call("POST", "/task/initialize", named, deadline_s=self._set_up_s)

    def tear_down(self, task_type: str, number: int) -> None:
        named = _named(task_type, number)
        self._call("POST", "/task/tear_down", named, deadline_s=self._set_up_s)

    def score(self, task_type: str, number: int) -> float:
        return self._asked("/task/score", _named(task_type, number), "score", float)

    def reset(self) -> None:
        self._call("POST", "/reset", {"go_home": "true"})

    def pixels(self) -> Pixels:
        rows = self._look("/screenshot", {"wait_to_stabilize": "true"}).get("pixels")
        try:
            pixels = np.asarray(rows, dtype=np.uint8)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._strange("/screenshot", rows) from error
        if pixels.ndim != 3 or pixels.shape[2] not in (3, 4) or not pixels.size:
            raise self._strange("/screenshot", f"pixels of shape {pixels.shape}")
        return pixels[:, :, :3]

    def execute(self, action: dict[str, Any]) -> None:
        self._call("POST", "/execute_action", body=action)

    def close(self) -> None:
        """Close the connection; the container keeps running."""
        self._client.close()

    def _asked(self, path: str, parameters: dict[str, Any], name: str, kind: type[T]) -> T:
        value = self._look(path, parameters).get(name)
        try:
            found = msgspec.convert(value, kind)
            msgspec.json.encode(found)  # refuses lone surrogates, which cannot be stored
        except (msgspec.ValidationError, ValueError, OverflowError) as error:
            raise self._strange(path, ascii(value)) from error
        return found

    def _look(self, path: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        for _ in range(LOOKS - 1):
            try:
                return self._call("GET", path, parameters)
            except DeviceDisconnected:
                continue
        return self._call("GET", path, parameters)

    def _call(
        self,
        method: str,
        path: str,
        parameters: dict[str, Any] | None = None,
        *,
        body: dict[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> dict[str, Any]:
        what = f"AndroidWorld at {self._url}: {method} {path}"
        deadline_s = deadline_s or self._deadline_s
        request = self._client.build_request(
            method, path, params=parameters, json=body, timeout=deadline_s
        )
        try:
            response = self._client.send(request, stream=True)
            try:
                content = self._content(response, path, time.monotonic() + deadline_s)
            finally:
                response.close()
        except (httpx.TimeoutException, TimeoutError) as error:
            raise DeviceTimeout(f"{what}: no answer within {deadline_s:g} s; reset it") from error
        except httpx.RequestError as error:
            raise DeviceDisconnected(
                f"{what}: {type(error).__name__}: {error}; see that its container runs"
            ) from error
        if not response.is_success:
            said = f"{what}: it answered {response.status_code}: {_quote(content)}"
            if response.status_code in (400, 404, 422):
                raise UnknownTask(f"{said}. It does not know that, or is of another version")
            raise DeviceDisconnected(f"{said}. Look into the container's log")
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._strange(path, _quote(content)) from error
        if not isinstance(answer, dict):
            raise self._strange(path, answer)
        return answer

    def _content(self, response: httpx.Response, path: str, deadline: float) -> bytes:
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if time.monotonic() > deadline:
                raise TimeoutError
            if len(content) > MAX_ANSWER:
                raise self._strange(path, f"more than {MAX_ANSWER:,} bytes")
        return bytes(content)

    def _strange(self, path: str, answer: object) -> DeviceDisconnected:
        said = str(answer)[:MAX_QUOTE]
        return DeviceDisconnected(
            f"AndroidWorld at {self._url}: {path} answered with something else than it "
            f"should: {said!r}; is it AndroidWorld's server, and of a version of 2025 or newer?"
        )


def _quote(content: bytes) -> str:
    return content[: 4 * MAX_QUOTE].decode("utf-8", errors="replace")[:MAX_QUOTE]


def _named(task_type: str, number: int) -> dict[str, Any]:
    return {"task_type": task_type, "task_idx": number}
