"""A stand-in for a model behind an OpenAI-compatible endpoint: it turns off the alarm of its task.

It reads what it is sent, and nothing else: the tools by their names, the alarm's label in the
prompt, the number of the switch on the screen that the last tool returned.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TASK = "clock.turn_off_alarm/train/0"


def next_call(messages: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The tool to call after these messages, with its arguments."""
    seen = [_text(each) for each in messages if each["role"] == "tool"]
    if not seen:
        return "open_app", {"app": "Clock"}
    if len(seen) == 1:
        first = _text(next(each for each in messages if each["role"] == "user"))
        return "tap", {"element": switch_number(first, seen[0])}
    return "finish", {}


def switch_number(task: str, screen: str) -> int:
    """The number of the switch of the alarm that the task names."""
    label = re.search(r"[\"“']([^\"”']+)[\"”']", task.split("Task: ")[1])
    assert label is not None, task
    lines = [line for line in screen.splitlines() if "switch" in line and label[1] in line]
    return int(lines[0][1 : lines[0].index("]")])


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(each["text"] for each in content)


class AlarmModel(BaseHTTPRequestHandler):
    """Chat completions, streamed: one tool call each."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, arguments = next_call(asked["messages"])
        tools = [tool["function"]["name"] for tool in asked["tools"]]
        named = next(tool for tool in tools if tool.endswith(name))
        function = {"name": named, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": name, "type": "function", "function": function}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self._send({"role": "assistant", "content": None, "tool_calls": [call]}, None)
        self._send({}, "tool_calls")
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, delta: dict[str, Any], finish: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())

    def log_message(self, *words: object) -> None: ...


@contextmanager
def serve_alarm_model() -> Iterator[str]:
    """The address of an endpoint, while the context is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), AlarmModel)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
