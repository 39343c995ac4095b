"""A real HTTP server on a free port that speaks the chat protocol, and fails on request.

It answers each completion with the next of its replies, and with the last one ever after. What it
was asked is kept.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Asked = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What is sent back."""

    body: bytes | Callable[[Asked], bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False  # close the connection instead of an answer
    hold: threading.Event | None = None  # wait for this before anything is sent
    trickle_s: float = 0.0  # and then this long after every hundredth of it


@dataclass
class Log:
    """What the server was asked, in the order of arrival."""

    completions: list[Asked] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    max_at_once: int = 0


def texts_in(asked: Asked) -> list[str]:
    return [part["text"] for part in _parts(asked) if part["type"] == "text"]


def picture_urls_in(asked: Asked) -> list[str]:
    return [part["image_url"]["url"] for part in _parts(asked) if part["type"] == "image_url"]


def _parts(asked: Asked) -> list[dict[str, Any]]:
    return list(asked["messages"][-1]["content"])


def completion(
    text: str = "<tap><17,40>",
    token_ids: object = (5, 6, 2),
    log_probs: object = (-0.25, -1.5, 0.0),
    *,
    finish: str = "stop",
    model: str = "policy",
    **more: Any,
) -> bytes:
    """A chat completion as vLLM 0.10.2 and newer send it."""
    scored = None
    if isinstance(log_probs, tuple):
        scored = {"content": [{"token": "?", "logprob": value} for value in log_probs]}
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish,
        "logprobs": scored,
    }
    if token_ids is not None:
        choice["token_ids"] = token_ids
    answer = {"id": "1", "object": "chat.completion", "model": model, "choices": [choice], **more}
    return json.dumps(answer).encode()


def _listed(models: Sequence[str]) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in models]}).encode()


@contextmanager
def serving(
    *replies: Reply, models: Sequence[str] = ("policy", "judge"), listing: Reply | None = None
) -> Iterator[tuple[str, Log]]:
    """The server's url and its log; `listing` answers in place of the list of models."""
    log, left, lock = Log(), list(replies), threading.Lock()
    at_once = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            log.headers.append(dict(self.headers))
            self.send(listing or Reply(_listed(models)), {})

        def do_POST(self) -> None:
            nonlocal at_once
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                log.completions.append(asked)
                log.headers.append(dict(self.headers))
                at_once += 1
                log.max_at_once = max(log.max_at_once, at_once)
                reply = left.pop(0) if len(left) > 1 else left[0]
            self.send(reply, asked)
            with lock:
                at_once -= 1

        def send(self, reply: Reply, asked: Asked) -> None:
            if reply.hold:
                reply.hold.wait(60.0)
            if reply.hang_up:
                self.close_connection = True
                return
            body = reply.body(asked) if callable(reply.body) else reply.body
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            piece = max(1, len(body) // 100) if reply.trickle_s else max(1, len(body))
            try:
                for start in range(0, len(body), piece):
                    self.wfile.write(body[start : start + piece])
                    time.sleep(reply.trickle_s)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """A test's output is not the place."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", log
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
