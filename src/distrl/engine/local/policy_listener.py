"""The policy process's side of its connections to the collectors of the machine."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from distrl.engine.ingest.messages import Message, MessageSocket
from distrl.engine.local.policy_connection import (
    CONNECT_SECONDS,
    HELLO,
    is_same_user,
    policy_address,
)
from distrl.engine.serving.decision_messages import (
    DecisionRequest,
    Decisions,
    EndSession,
    PackedDecision,
    ReportRequest,
    observation_of,
    packed_decision,
)
from distrl.engine.serving.policy_server import PolicyServer
from distrl.engine.serving.screen_memory import ScreenView
from distrl.errors import UsageError
from distrl.records import Decision

SEND_SECONDS = 5.0  # a collector that reads nothing for that long is dropped
BACKLOG = 1024

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Client:
    """A connected collector."""

    link: MessageSocket
    screens: ScreenView
    sessions: set[str] = field(default_factory=set)

    def close(self) -> None:
        self.link.close()
        self.screens.close()


class PolicyListener:
    """Passes collectors' requests to a `PolicyServer`, and sends its answers, until it is closed.

    Run `listen` and `send_answers` in a thread each; the server decides in a third. Answers that
    are ready at the same time go to a collector in one message. An invalid message closes the
    connection of the collector that sent it, and no other.
    """

    def __init__(self, server: PolicyServer, run: Path) -> None:
        self._server = server
        self._answers: queue.SimpleQueue[tuple[_Client, PackedDecision] | None]
        self._answers = queue.SimpleQueue()  # None: no more will come
        self._clients: set[_Client] = set()
        self._over = False
        self._woken, self._wake = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(policy_address(run))
        self._listener.listen(BACKLOG)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._woken, selectors.EVENT_READ, lambda: None)

    def listen(self) -> None:
        """Accept connections and take requests until `close`."""
        while not self._over:
            for key, _ in self._selector.select():
                key.data()
        for client in self._clients:
            client.close()
        self._listener.close()
        self._woken.close()
        self._selector.close()

    def close(self) -> None:
        """End both loops, and all connections."""
        self._over = True
        self._wake.close()
        self._answers.put(None)

    def send_answers(self) -> None:
        """Send decisions until `close`."""
        while answers := self._next_answers():
            ready: dict[_Client, list[PackedDecision]] = {}
            for client, decided in answers:
                ready.setdefault(client, []).append(decided)
            for client, decisions in ready.items():
                with contextlib.suppress(EOFError):  # `listen` notices that it is gone
                    client.link.send(Decisions(tuple(decisions)))

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        try:
            connection.settimeout(CONNECT_SECONDS)
            if not is_same_user(connection):
                raise UsageError("a process of another user has connected, and is refused")
            hello, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
            if hello != HELLO or len(descriptors) != 1:
                for each in descriptors:
                    os.close(each)
                raise UsageError("a connection that did not begin with a descriptor is refused")
            client = _Client(MessageSocket(connection, SEND_SECONDS), ScreenView(descriptors[0]))
        except (OSError, UsageError) as error:
            log.warning("%s", error)
            connection.close()
            return
        self._clients.add(client)
        self._selector.register(client.link, selectors.EVENT_READ, partial(self._take_all, client))

    def _take_all(self, client: _Client) -> None:
        try:
            for message in client.link.receive_all():
                self._take(client, message)
        except (EOFError, UsageError) as error:
            log.info("a collector has gone: %s", error)
            self._selector.unregister(client.link)
            for session in client.sessions:
                self._server.leave(session)
            self._clients.remove(client)
            client.close()

    def _take(self, client: _Client, message: Message) -> None:
        match message:
            case DecisionRequest(number, session):
                observation = observation_of(
                    message, client.screens.read(message.offset, message.screens)
                )
                client.sessions.add(session)
                self._server.submit(session, observation, self._answer_to(client, number))
            case EndSession(session):
                client.sessions.discard(session)
                self._server.leave(session)
            case ReportRequest():
                client.link.send(self._server.report())
            case _:
                raise UsageError(f"a collector sent a {type(message).__name__}")

    def _answer_to(self, client: _Client, number: int) -> Callable[[Decision | None], None]:
        def answer(decision: Decision | None) -> None:
            if decision is not None:  # None: the process ends, and its connections with it
                self._answers.put((client, packed_decision(number, decision)))

        return answer

    def _next_answers(self) -> list[tuple[_Client, PackedDecision]]:
        """Wait for an answer; return it with all others that are ready. Empty after `close`."""
        found = [self._answers.get()]
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._answers.get_nowait())
        return [each for each in found if each is not None]
