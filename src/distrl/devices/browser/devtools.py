"""The Chrome DevTools Protocol over the two pipes of a browser that we started.

Chromium reads commands from its file 3 and writes answers and events to its file 4: JSON documents,
each ended by a zero byte. No port is opened, so nobody else on the machine can drive the browser;
and a browser whose pipe closes ends itself, also where this process was killed. A websocket library
was weighed: it needs the port, and nothing else would need the library. Playwright drives the same
protocol through a process of Node.js and cannot draw frames on demand (`page`).

One thread of the browser reads; every target has a `Session` with an inbox, and the thread that
uses the target handles what is in it. After the browser has ended, every call of every session
raises `BrowserStopped`.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

import msgspec

from distrl.errors import BrowserStopped, CommandRefused, DeviceTimeout

Json = dict[str, Any]
MAX_MESSAGE = 64 << 20  # bytes; a page can make titles and urls as long as it likes
READ_BYTES = 1 << 18


class Pending:
    """A command that was sent, and its answer once it is there."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.done = False
        self.result: Json = {}
        self.error = ""

    def settle(self, message: Json) -> None:
        self.done = True
        self.result = message.get("result", {})
        self.error = str(message.get("error", {}).get("message", ""))


class Session:
    """Commands to one target, and its events. One thread uses it at a time."""

    def __init__(self, name: str, tools: DevTools, session_id: str) -> None:
        self.name = name
        self.id = session_id
        self.handlers: dict[str, Callable[[Json], None]] = {}  # by event
        self.inbox: SimpleQueue[Json | None] = SimpleQueue()
        self._tools = tools
        self._waiting: dict[int, Pending] = {}

    def send(self, method: str, **params: object) -> Pending:
        pending = Pending(method)
        number = self._tools.next_number()
        self._waiting[number] = pending
        self._tools.write(self, {"id": number, "method": method, "params": params})
        return pending

    def receive(self, seconds: float) -> bool:
        """Handle the next message; false if none came within that time."""
        try:
            message = self.inbox.get(timeout=seconds) if seconds > 0 else self.inbox.get_nowait()
        except Empty:
            return False
        if message is None:
            self.inbox.put(None)  # for whoever asks next
            raise self._tools.stopped(self.name)
        if "id" in message:
            pending = self._waiting.pop(message["id"], None)
            if pending is not None:
                pending.settle(message)
        elif (handler := self.handlers.get(message.get("method", ""))) is not None:
            handler(message.get("params", {}))
        return True

    def call(self, method: str, seconds: float = 10.0, **params: object) -> Json:
        """Send a command and wait for its answer."""
        pending, until = self.send(method, **params), time.monotonic() + seconds
        while not pending.done:
            left = until - time.monotonic()
            if left <= 0 or not self.receive(left):
                raise DeviceTimeout(
                    f"device {self.name}: the browser did not answer {method} within {seconds:g} s"
                )
        return answer_of(self.name, pending)


def answer_of(name: str, pending: Pending) -> Json:
    """The result of an answered command; `CommandRefused` if the browser would not."""
    if pending.error:
        raise CommandRefused(
            f"device {name}: the browser refused {pending.method}: {pending.error[:300]}"
        )
    return pending.result


class DevTools:
    """Both ends of the pipes; owns the files and the thread that reads."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._answers = answers
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()  # guards the writing end; held while a write blocks
        self._lock = threading.Lock()  # guards the sessions; never held while anything blocks
        self._closed = False
        self._sessions: dict[str, Session] = {}
        self.browser = self.session("the browser", "")
        self._reader = threading.Thread(target=self._read, name="devtools", daemon=True)
        self._reader.start()

    def session(self, name: str, session_id: str) -> Session:
        """The session of a target that was attached to."""
        session = Session(name, self, session_id)
        with self._lock:
            self._sessions[session_id] = session
            if self._closed:
                session.inbox.put(None)
        return session

    def forget(self, session: Session) -> None:
        with self._lock:
            self._sessions.pop(session.id, None)

    def next_number(self) -> int:
        return next(self._numbers)

    def write(self, session: Session, message: Json) -> None:
        if session.id:
            message["sessionId"] = session.id
        data = memoryview(msgspec.json.encode(message) + b"\0")
        with self._writing:
            if self._closed:
                raise self.stopped(session.name)
            try:
                while data:
                    data = data[os.write(self._commands, data) :]
            except BrokenPipeError as error:
                raise self.stopped(session.name) from error

    def stopped(self, name: str) -> BrowserStopped:
        return BrowserStopped(f"device {name}: the browser's process has ended; reset the device")

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Close the pipe, which ends the browser."""
        with self._writing:
            if not self._closed:
                self._closed = True
                os.close(self._commands)

    def _read(self) -> None:
        """Hand every message to its session until the browser closes its end."""
        try:
            waiting = bytearray()
            while data := os.read(self._answers, READ_BYTES):
                waiting += data
                if b"\0" in data:
                    *whole, rest = waiting.split(b"\0")
                    waiting = rest
                    for each in whole:
                        self._dispatch(each)
                elif len(waiting) > MAX_MESSAGE:
                    break
        except (OSError, msgspec.DecodeError):
            pass  # what it said no longer makes sense: the same as a browser that has gone
        finally:
            self.close()
            os.close(self._answers)
            with self._lock:
                for session in self._sessions.values():
                    session.inbox.put(None)

    def _dispatch(self, data: bytearray) -> None:
        message = msgspec.json.decode(data)
        with self._lock:
            session = self._sessions.get(message.get("sessionId", ""))
        if session is not None and (session.id or "id" in message):
            session.inbox.put(message)
