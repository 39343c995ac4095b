"""A small HTTP server that speaks AndroidWorld's protocol, about a phone with one light switch.

Two kinds of tasks: to switch the light on by tapping the lower half, and to say what colour the
screen has. It is as strict as AndroidWorld: a task is initialised once before it is torn down.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

HEIGHT, WIDTH = 20, 10
TASKS = {"SwitchOn": ("Switch the light on", 2), "SayColour": ("Which colour is it?", 1)}


class Strange(Exception):
    """What AndroidWorld answers with status 500."""


@dataclass
class LightSwitch:
    """The phone and its tasks."""

    on: bool = False
    answer: str = ""
    seed: int = 42
    initialised: set[tuple[str, int]] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)
    broken: dict[str, str] = field(
        default_factory=dict
    )  # path: hang_up, slow, trickle, 500, or what it answers

    def get(self, path: str, words: dict[str, str]) -> dict[str, Any]:
        kind, number = words.get("task_type", ""), int(words.get("task_idx", 0))
        match path:
            case "/health":
                return {"status": "success"}
            case "/screenshot":
                colour = [255, 255, 0] if self.on else [0, 0, 0]
                return {"pixels": [[colour] * WIDTH for _ in range(HEIGHT)]}
            case "/suite/task_list":
                return {"task_list": list(TASKS)}
            case "/suite/task_length":
                return {"length": TASKS[kind][1]}
            case "/suite/reinitialize":
                self.seed = int(words["seed"])
                return {"status": "success"}
            case "/task/goal":
                return {"goal": f"{TASKS[kind][0]} {number}"}
            case "/task/score":
                done = self.on if kind == "SwitchOn" else self.answer == "black"
                return {"score": 1.0 if done else 0.0}
        raise KeyError(path)

    def post(self, path: str, words: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
        task = words.get("task_type", ""), int(words.get("task_idx", 0))
        match path:
            case "/reset":
                assert words["go_home"] == "true"
                self.answer = ""
            case "/task/initialize":
                if task in self.initialised:
                    raise Strange("initialize_task() is already called.")
                self.initialised.add(task)
                self.on = False
            case "/task/tear_down":
                self.initialised.discard(task)
            case "/execute_action":
                self.actions.append(body)
                if body["action_type"] == "click":
                    assert 0 <= body["x"] < WIDTH
                    self.on = body["y"] >= HEIGHT / 2
                if body["action_type"] == "answer":
                    self.answer = body["text"]
            case _:
                raise KeyError(path)
        return {"status": "success"}


@contextmanager
def android_world(phone: LightSwitch) -> Iterator[str]:
    """The url of its server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.handle_call(lambda path, words: phone.get(path, words))

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            self.handle_call(lambda path, words: phone.post(path, words, body))

        def handle_call(self, act: Any) -> None:
            parts = urlsplit(self.path)
            words = dict(parse_qsl(parts.query))
            phone.calls.append(f"{parts.path} {words.get('task_type', '')}".strip())
            trouble = phone.broken.get(parts.path, "")
            if trouble == "hang_up":
                return
            if trouble == "slow":
                time.sleep(3.0)
            try:
                status, answer = 200, act(parts.path, words)
            except KeyError:
                status, answer = 404, {"detail": "Not Found"}
            except Strange as error:
                status, answer = 500, {"detail": str(error)}
            if trouble == "500":
                status = 500
            known = ("", "slow", "trickle", "500")
            content = (json.dumps(answer) if trouble in known else trouble).encode()
            self.send(status, content, trickle=trouble == "trickle")

        def send(self, status: int, content: bytes, *, trickle: bool) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                for at in range(0, len(content), 1 if trickle else len(content)):
                    self.wfile.write(content[at : at + 1] if trickle else content)
                    time.sleep(0.05 if trickle else 0.0)  # as long as no read times out
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """A test's output is not the place."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
