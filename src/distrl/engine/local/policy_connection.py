"""A collector's connection to the policy process of its machine.

The policy process listens (`policy_listener`) on an abstract Unix socket whose name is derived from
the path of the run directory: no file is left behind, and a replacement can bind the name at once.
Both sides accept only processes of the same user (SO_PEERCRED). A collector first sends the file
descriptor of its shared memory (`serving.screen_memory`), then requests; answers come back over the
same socket.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import queue
import socket
import struct
import threading
from concurrent.futures import Future
from pathlib import Path

from distrl.engine.ingest.messages import Message, MessageSocket
from distrl.engine.serving.decision_messages import (
    Decisions,
    EndSession,
    PackedDecision,
    ReportRequest,
    decision_of,
    decision_request,
)
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.serving.screen_memory import ScreenMemory
from distrl.errors import PolicyServerGone
from distrl.records import Decision, Observation
from distrl.replay.compressed_screen import compress

CONNECT_SECONDS = 5.0  # to send or receive the first bytes
REPORT_SECONDS = 0.5  # to wait for a report
CREDENTIALS = struct.Struct("3i")  # process, user, group
GONE = "the policy process of this machine is gone, and another is started"
HELLO = b"S"  # sent along with the descriptor

log = logging.getLogger(__name__)


def policy_address(run: Path) -> bytes:
    digest = hashlib.blake2b(os.fsencode(run.resolve()), digest_size=16).hexdigest()
    return b"\0distrl-policy-" + digest.encode()


def is_same_user(connection: socket.socket) -> bool:
    """Return whether the other side is a process of this user."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    return bool(CREDENTIALS.unpack(found)[1] == os.getuid())


def find_policy_process(run: Path) -> PolicyConnection | None:
    """Return a connection to the policy process of that run, or None if there is none now."""
    connection, memory = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), ScreenMemory()
    try:
        connection.settimeout(CONNECT_SECONDS)
        connection.connect(policy_address(run))
        if not is_same_user(connection):
            raise PermissionError("the policy process of this run belongs to another user")
        socket.send_fds(connection, [HELLO], [memory.fileno()])
    except OSError as error:
        connection.close()
        memory.close()
        log.debug("no policy process yet: %s", error)
        return None
    return PolicyConnection(MessageSocket(connection), memory)


class PolicyConnection:
    """Implements `ServerLine` of `serving.policy_client`. Any thread may ask."""

    def __init__(self, link: MessageSocket, memory: ScreenMemory) -> None:
        self._link = link
        self._memory = memory
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[Future[Decision], tuple[int, int]]] = {}
        self._reports: queue.SimpleQueue[ServerReport] = queue.SimpleQueue()
        self._gone = False
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, name="decisions", daemon=True).start()

    def submit(self, session: str, observation: Observation) -> Future[Decision]:
        screens = [compress(each) for each in (*observation.past_screens, observation.screen)]
        region = self._memory.write(screens)
        number, answer = next(self._numbers), Future[Decision]()
        with self._lock:
            if self._gone:  # no thread would ever complete the future
                raise PolicyServerGone(GONE)
            self._waiting[number] = answer, region
        self._send(decision_request(number, session, observation, region[0], screens))
        return answer

    def leave(self, session: str) -> None:
        self._send(EndSession(session))

    def report(self) -> ServerReport | None:
        with contextlib.suppress(queue.Empty):
            while True:  # discard answers that came after their timeout
                self._reports.get_nowait()
        self._send(ReportRequest())
        try:
            return self._reports.get(timeout=REPORT_SECONDS)
        except queue.Empty:
            return None

    def _send(self, message: Message) -> None:
        try:
            if self._gone:
                raise EOFError("the connection is closed")
            self._link.send(message)
        except EOFError as error:
            raise PolicyServerGone(f"{GONE}: {error}") from error

    def _listen(self) -> None:
        try:
            while True:
                match self._link.receive():
                    case Decisions(decided):
                        for each in decided:
                            self._answer(each)
                    case ServerReport() as report:
                        self._reports.put(report)
                    case message:
                        raise EOFError(f"the policy process sent a {type(message).__name__}")
        except EOFError as error:
            self._end(str(error))

    def _answer(self, packed: PackedDecision) -> None:
        with self._lock:
            answer, region = self._waiting.pop(packed.number)
        self._memory.release(*region)
        answer.set_result(decision_of(packed))

    def _end(self, why: str) -> None:
        with self._lock:
            self._gone = True
            waiting = list(self._waiting.values())
        for answer, _ in waiting:
            answer.set_exception(PolicyServerGone(f"{GONE}: {why}"))
        self._link.close()
