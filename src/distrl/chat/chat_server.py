"""A client for servers with OpenAI's protocol (vLLM, SGLang), with retries and typed errors.

Each call has one deadline for all of its tries. Transient failures are retried with exponential
backoff (a lost connection, a timeout, 429 with its Retry-After, 5xx, invalid JSON, a request that
the server aborted to change its weights); others are raised at once. One `ChatServer` can be shared
by many threads.

The key is read from the environment only. It is sent to this server only (redirects are not
followed), and is in no message, record or log. `PictureUrls` encodes screens as `data:` URLs for
requests: PNG, so that the server sees exact pixels, and cached, since past screens are sent again.
"""

from __future__ import annotations

import base64
import email.utils
import io
import json
import os
import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx
from PIL import Image

from distrl.errors import (
    ChatServerError,
    ChatServerUnreachable,
    InvalidSetting,
    RequestRefused,
    UnusableAnswer,
)
from distrl.records import Screen

BUSY_OR_BROKEN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
BRIEF = 16  # max_tokens of the test question, whose answer is not used
NO_LIST = frozenset({404, 405, 501})  # statuses of a server without GET /models
MAX_ANSWER = 32 * 2**20  # bytes
MAX_QUOTE = 300  # characters of a server's answer that are quoted in a message
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """URL, deadline and retries."""

    url: str  # up to and including the version: http://localhost:8000/v1
    key_variable: str = "DISTRL_SERVER_KEY"  # the environment variable with the key, if any
    deadline_s: float = 120.0  # for one call, all of its tries together
    tries: int = 5
    first_wait_s: float = 0.5  # doubled after each try
    max_wait_s: float = 10.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidSetting(f"server url {self.url!r}; give one like http://localhost:8000/v1")
        if parts.username is not None or parts.password is not None:
            raise InvalidSetting(
                f"server url at {parts.hostname}: a name or password in a url ends up in logs; "
                f"put the key into the environment variable {self.key_variable}"
            )
        if self.tries < 1 or min(self.deadline_s, self.first_wait_s, self.max_wait_s) <= 0:
            raise InvalidSetting(f"{self}: tries must be 1 or more, and times above 0 seconds")


class _MayPass(Exception):
    """A transient failure. `final` is the error to raise when no try is left."""

    def __init__(
        self,
        what: str,
        *,
        wait_s: float = 0.0,
        final: type[ChatServerError] = ChatServerUnreachable,
    ) -> None:
        super().__init__(what)
        self.wait_s = wait_s
        self.final = final


def _answer(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:  # invalid JSON or UTF-8; nested too deeply
        what = f"the answer is no JSON ({error}): {content[:MAX_QUOTE]!r}"
        raise _MayPass(what, final=UnusableAnswer) from error
    if not isinstance(answer, dict):
        raise _MayPass(f"the answer is no object: {content[:MAX_QUOTE]!r}", final=UnusableAnswer)
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and first.get("finish_reason") == "abort":
        raise _MayPass("the server aborted the request")
    return answer


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")[:MAX_QUOTE]


class ChatServer:
    """A client of one server: a context manager, made by `open`."""

    def __init__(
        self,
        settings: ServerSettings,
        client: httpx.Client,
        key: str = "",
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        """`wait` sleeps between tries and returns True if `close` was called meanwhile."""
        self.settings = settings
        self._client = client
        self._key = key
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._under_way = 0
        self._wait = wait or self._closing.wait
        self._rng = random.Random()  # jitter of waits, so that collectors do not retry in step

    @classmethod
    def open(cls, settings: ServerSettings) -> Self:
        key = os.environ.get(settings.key_variable, "")
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        return cls(settings, httpx.Client(headers=headers, limits=limits), key)

    def close(self) -> None:
        """Start no further tries; close connections when the last call in flight has ended."""
        with self._lock:
            self._closing.set()
            if not self._under_way:
                self._client.close()

    @contextmanager
    def _call_under_way(self) -> Iterator[None]:
        """Count a call in flight, and close the client after the last one if `close` was called:
        closing it while another thread connects would leak a socket.
        """
        with self._lock:
            if self._closing.is_set():
                raise ChatServerUnreachable(f"{self.settings.url}: the connection was closed here")
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                if self._closing.is_set() and not self._under_way:
                    self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def get(self, path: str) -> dict[str, Any]:
        return self._call("GET", path, b"", _answer)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._call("POST", path, json.dumps(body).encode(), _answer)

    def tell(self, path: str, body: dict[str, Any]) -> str:
        """POST and return the answer as plain text; a path that begins with /../ is beside /v1."""
        return self._call("POST", path, json.dumps(body).encode(), _text)

    def _call(self, method: str, path: str, body: bytes, read: Callable[[bytes], T]) -> T:
        url = self.settings.url.rstrip("/")
        if path.startswith("/../"):
            url, path = url.rpartition("/")[0], path.removeprefix("/..")
        url += path
        started = time.monotonic()
        deadline = started + self.settings.deadline_s
        for attempt in range(1, self.settings.tries + 1):
            try:
                return read(self._try(method, url, body, deadline))
            except _MayPass as trouble:
                doubled = self.settings.first_wait_s * 2.0 ** (attempt - 1)
                back_off = min(self.settings.max_wait_s, doubled) * self._rng.uniform(0.5, 1.0)
                wait_s = max(trouble.wait_s, back_off)
                last = attempt == self.settings.tries or time.monotonic() + wait_s >= deadline
                if last or self._wait(wait_s):
                    raise trouble.final(
                        f"{method} {url}: {trouble}; gave up after {attempt} of "
                        f"{self.settings.tries} tries in {time.monotonic() - started:.1f} of "
                        f"{self.settings.deadline_s:g} s. See that the server is up and not "
                        "overloaded, or give it more time"
                    ) from trouble.__cause__
        raise AssertionError("unreachable: the last try returns or raises")

    def _try(self, method: str, url: str, body: bytes, deadline: float) -> bytes:
        left = max(deadline - time.monotonic(), 0.001)
        try:
            with (
                self._call_under_way(),
                self._client.stream(method, url, content=body, timeout=left) as response,
            ):
                content = _content(response, deadline)
        except httpx.RequestError as error:
            raise _MayPass(f"{type(error).__name__}: {error}") from error
        if not response.is_success:
            raise self._refusal(method, url, response, content)
        return content

    def _refusal(
        self, method: str, url: str, response: httpx.Response, content: bytes
    ) -> Exception:
        said = content.decode("utf-8", errors="replace")[:MAX_QUOTE]
        if self._key:
            said = said.replace(self._key, "…")  # some servers repeat a wrong key
        what = f"the server answered {response.status_code}: {said}"
        if response.status_code in BUSY_OR_BROKEN:
            return _MayPass(what, wait_s=_retry_after(response))
        advice = {
            401: f"Put the server's key into the environment variable {self.settings.key_variable}",
            403: f"Put a key that may do this into {self.settings.key_variable}",
            404: "Check the url (it ends in /v1) and the model's name",
        }.get(response.status_code, "Asking again will not help")
        return RequestRefused(f"{method} {url}: {what}. {advice}", response.status_code)


def check_model(server: ChatServer, model: str) -> None:
    """Raise a `ChatServerError` unless the server answers, accepts our key and has the model.

    A server without a readable list of models is asked a short question instead.
    """
    names = _listed_models(server)
    if not names:
        _ask_briefly(server, model)
    elif model not in names:
        raise RequestRefused(
            f"GET {server.settings.url}/models: the server has no model {model!r}; it lists "
            f"{', '.join(names[:10])}"
        )


def _listed_models(server: ChatServer) -> list[str]:
    """Return the names of the server's models; [] if it has no readable list."""
    try:
        listed = server.get("/models").get("data")
    except UnusableAnswer:
        return []
    except RequestRefused as error:
        if error.status in NO_LIST:
            return []
        raise
    found = listed if isinstance(listed, list) else []
    return [str(each.get("id")) for each in found if isinstance(each, dict)]


def _ask_briefly(server: ChatServer, model: str) -> None:
    question = {"role": "user", "content": [{"type": "text", "text": "Are you there? Say yes."}]}
    asked = {"model": model, "messages": [question], "max_tokens": BRIEF, "temperature": 0.0}
    choices = server.post("/chat/completions", asked).get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnusableAnswer(
            f"POST {server.settings.url}/chat/completions: {model!r} was asked whether it is "
            "there, and the answer has no choices. See that the url is that of a chat server"
        )


def _content(response: httpx.Response, deadline: float) -> bytes:
    """Read the body; raise if it is too large, or past the deadline, however slow the stream."""
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if time.monotonic() > deadline:
            raise _MayPass("the answer did not end before the deadline")
        if len(content) > MAX_ANSWER:
            raise UnusableAnswer(f"{response.url}: an answer of more than {MAX_ANSWER} bytes")
    return bytes(content)


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds to wait by the Retry-After header, which may also be a date; else 0."""
    said = response.headers.get("Retry-After", "")
    with suppress(ValueError):
        return max(0.0, float(said))
    try:
        at = email.utils.parsedate_to_datetime(said)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, (at - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # no date, or an impossible one
        return 0.0


ImageSize = tuple[int, int]  # width, height
FAST = 1  # zlib level: a screen takes milliseconds, and its bytes are sent once


class PictureUrls:
    """Encodes screens as URLs and caches the last `most` of them. Thread-safe."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._urls: OrderedDict[tuple[str, ImageSize], str] = OrderedDict()
        self._lock = threading.Lock()

    def url(self, screen: Screen, size: ImageSize) -> str:
        """Return the screen, resized to `size`, as a `data:` URL of a PNG."""
        key = screen.digest, size
        with self._lock:
            if key in self._urls:
                self._urls.move_to_end(key)
                return self._urls[key]
        url = _encoded(screen, size)
        with self._lock:
            self._urls[key] = url
            while len(self._urls) > self._most:
                self._urls.popitem(last=False)
        return url


def _encoded(screen: Screen, size: ImageSize) -> str:
    picture = Image.fromarray(screen.pixels)
    if picture.size != size:
        picture = picture.resize(size, Image.Resampling.BICUBIC)
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=FAST)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
