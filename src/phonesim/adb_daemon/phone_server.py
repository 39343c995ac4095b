"""Serve several phones from one process, each on its own port, on loopback only.

    with PhoneServer([Handset("first", seed=1), Handset("second", seed=2)]) as server:
        print(server.addresses)      # adb connect 127.0.0.1:…

One thread accepts for all phones; each connection has a thread. Connections beyond the limit and
those of other users of this machine are closed at once. `unplug` and `plug_in` disconnect a phone
and connect it again.
"""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Self

from distrl.errors import InvalidSetting
from distrl.loopback_peer import is_own_peer, owners_are_known
from phonesim.adb_daemon.authorization import Authorization
from phonesim.adb_daemon.cable import Cable
from phonesim.adb_daemon.connection import Connection, Limits
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.services import banner, open_service

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"  # not a setting: whoever reaches a phone may operate it
EMULATOR_PORTS = range(5554, 5586)  # adb lists whatever listens there a second time
JOIN_SECONDS = 5.0


class PhonePort:
    """One phone, its port, and the connections to it."""

    def __init__(self, handset: Handset, authorization: Authorization, limits: Limits) -> None:
        self.handset = handset
        self.authorization = authorization
        self.cable = Cable()
        self.port = 0
        self._limits = limits
        self._lock = threading.Lock()
        self._connections: dict[Connection, threading.Thread] = {}
        self.listener: socket.socket | None = None

    def listen(self, port: int) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            listener.listen(16)
        except OSError as error:
            listener.close()
            raise InvalidSetting(
                f"phone {self.handset.serial}: port {port} of {LOOPBACK} cannot be had "
                f"({error.strerror}); give another one, or 0 for any that is free"
            ) from error
        listener.setblocking(False)
        self.listener, self.port = listener, listener.getsockname()[1]

    def accept(self) -> None:
        """Accept the next connection; close it if it is another user's, or one too many."""
        if self.listener is None:
            return
        try:
            line, peer = self.listener.accept()
        except OSError as error:  # it was gone before we looked
            logger.debug("a connection that came to nothing: %s", error)
            return
        if owners_are_known() and not is_own_peer(peer, line.getsockname()):
            logger.warning("%s: another user of this machine is refused", self.handset.serial)
            line.close()
            return
        with self._lock:
            if len(self._connections) >= self._limits.connections:
                logger.warning("%s: too many connections", self.handset.serial)
                line.close()
                return
            opener, hello = partial(open_service, self.handset), banner(self.handset)
            connection = Connection(
                line, hello, opener, self.authorization, self.cable, self._limits
            )
            name = f"adb {self.handset.serial}"
            thread = threading.Thread(
                target=self._serve, args=(connection,), name=name, daemon=True
            )
            self._connections[connection] = thread
            thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            connection.serve()
        finally:
            with self._lock:
                del self._connections[connection]

    @property
    def connected(self) -> int:
        with self._lock:
            return len(self._connections)

    def hang_up(self) -> None:
        """End every connection and its thread."""
        with self._lock:
            threads = list(self._connections.values())
            for connection in self._connections:
                connection.hang_up()
        self.cable.flow()
        for thread in threads:
            thread.join(JOIN_SECONDS)

    def close(self) -> None:
        if self.listener is not None:
            self.listener.close()
            self.listener = None


class PhoneServer:
    """Serves phones while its `with` block lasts. `port` is the first one's; 0 takes any free."""

    def __init__(
        self,
        handsets: Sequence[Handset],
        port: int = 0,
        *,
        ask: bool = False,
        limits: Limits | None = None,
    ) -> None:
        chosen = limits or Limits()
        self._first_port = port
        self.phones = [PhonePort(h, Authorization(everybody=not ask), chosen) for h in handsets]
        self._lock = threading.Lock()
        self._running = False
        self._selector: selectors.BaseSelector
        self._wake_up: socket.socket
        self._woken: socket.socket
        self._thread: threading.Thread

    @property
    def addresses(self) -> list[str]:
        """The addresses for `adb connect`, one for each phone."""
        return [f"{LOOPBACK}:{phone.port}" for phone in self.phones]

    def __enter__(self) -> Self:
        self._selector = selectors.DefaultSelector()
        self._wake_up, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name="adb accept", daemon=True)
        try:
            for number, phone in enumerate(self.phones):
                phone.listen(self._first_port + number if self._first_port else 0)
        except InvalidSetting:
            self._close()
            raise
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        for phone in self.phones:
            self._watch(phone)
        self._running = True
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running = False
        self._wake_up.send(b"!")
        self._thread.join(JOIN_SECONDS)
        for phone in self.phones:
            phone.hang_up()
        self._close()

    def unplug(self, index: int) -> None:
        """Unplug the cable: close all connections and accept no new ones."""
        phone = self.phones[index]
        with self._lock:
            if phone.listener is not None:
                self._selector.unregister(phone.listener)
                phone.close()
        phone.hang_up()

    def plug_in(self, index: int) -> None:
        """Plug the cable in again, on the same port."""
        phone = self.phones[index]
        with self._lock:
            if phone.listener is None:
                phone.listen(phone.port)
                self._watch(phone)
        self._wake_up.send(b"!")

    def _watch(self, phone: PhonePort) -> None:
        assert phone.listener is not None
        self._selector.register(phone.listener, selectors.EVENT_READ, phone)

    def _accept(self) -> None:
        while self._running:
            for key, _ in self._selector.select():
                phone = key.data
                with self._lock:
                    if isinstance(phone, PhonePort):
                        phone.accept()
                    else:
                        self._woken.recv(64)

    def _close(self) -> None:
        for phone in self.phones:
            phone.close()
        self._selector.close()
        self._wake_up.close()
        self._woken.close()
