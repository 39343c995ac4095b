"""A client for the Chrome DevTools Protocol over the two pipes of a browser that we started.

Chromium reads commands from its file descriptor 3 and writes answers and events to 4: JSON
documents, each terminated by a zero byte. No port is opened, so no other user of the machine can
control the browser; and a browser whose pipe closes exits, even if this process was killed. We
weighed a websocket library: it needs the port, and nothing else would need the library. Playwright
uses the same protocol through a Node.js process and cannot draw frames on demand (`browser_page`).

One reader thread per browser puts each message into the inbox of its target's `Session`; the thread
that uses the target handles the messages. After the browser has exited, every call of every session
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
MAX_MESSAGE = 64 << 20  # bytes; a page can make titles and urls arbitrarily long
READ_BYTES = 1 << 18


class Pending:
    """A command that was sent, and its answer once it has arrived."""

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
    """Sends commands to one target and handles its events. One thread uses it at a time."""

    def __init__(self, name: str, tools: DevTools, session_id: str) -> None:
        self.name = name
        self.id = session_id
        self.handlers: dict[str, Callable[[Json], None]] = {}  # by event name
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
        """Handle the next message; return False if none arrives within `seconds`."""
        try:
            message = self.inbox.get(timeout=seconds) if seconds > 0 else self.inbox.get_nowait()
        except Empty:
            return False
        if message is None:
            self.inbox.put(None)  # so that the next call raises too
            raise self._tools.stopped(self.name)
        if "id" in message:
            pending = self._waiting.pop(message["id"], None)
            if pending is not None:
                pending.settle(message)
        elif (handler := self.handlers.get(message.get("method", ""))) is not None:
            handler(message.get("params", {}))
        return True

    def call(self, method: str, seconds: float = 10.0, **params: object) -> Json:
        """Send a command, wait for its answer and return it."""
        pending, until = self.send(method, **params), time.monotonic() + seconds
        while not pending.done:
            left = until - time.monotonic()
            if left <= 0 or not self.receive(left):
                raise DeviceTimeout(
                    f"device {self.name}: the browser did not answer {method} within {seconds:g} s"
                )
        return answer_of(self.name, pending)


def answer_of(name: str, pending: Pending) -> Json:
    """Return the result of an answered command; raise `CommandRefused` if it is an error."""
    if pending.error:
        raise CommandRefused(
            f"device {name}: the browser refused {pending.method}: {pending.error[:300]}"
        )
    return pending.result


class DevTools:
    """The connection to one browser; owns both pipes and the reader thread."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._answers = answers
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()  # guards the write pipe; held while a write blocks
        self._lock = threading.Lock()  # guards `_sessions`; never held during a blocking call
        self._closed = False
        self._sessions: dict[str, Session] = {}
        self.browser = self.session("the browser", "")
        self._reader = threading.Thread(target=self._read, name="devtools", daemon=True)
        self._reader.start()

    def session(self, name: str, session_id: str) -> Session:
        """Create the session of an attached target."""
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
        """Close the command pipe, which makes the browser exit."""
        with self._writing:
            if not self._closed:
                self._closed = True
                os.close(self._commands)

    def _read(self) -> None:
        """Dispatch every message to its session until the browser closes its pipe."""
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
            pass  # an unreadable message: treat the browser as stopped
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
