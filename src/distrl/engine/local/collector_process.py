"""A collector as a process of its own, forked by multiprocessing's forkserver (`collector_pool`).

The process builds its collector from the run directory's config, plays what the learner orders over
their connection, sends heartbeats, and ends when told to or when the connection closes. The kernel
kills it when the learner dies. An unexpected error ends it with a traceback in its log, and the
learner starts another.

The forkserver imports this module before it forks, so importing it must start no thread and open
nothing.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import queue
import socket
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from distrl.agent.torch_device import use_threads
from distrl.config.training_config import TrainingConfig, load_config
from distrl.devices.device import Device
from distrl.engine.ingest.delivery import TrajectorySender
from distrl.engine.ingest.messages import (
    Heartbeat,
    Message,
    MessageSocket,
    Pace,
    Play,
    Played,
    Received,
    Refused,
    Stop,
)
from distrl.engine.local.policy_connection import find_policy_process
from distrl.engine.local.process_lifetime import end_process_with, set_up_process
from distrl.engine.local.shared_encodings import EncodingSender
from distrl.engine.serving.policy_client import PolicyClient
from distrl.engine.supervision.collector_registry import PacedAdmission, Registration
from distrl.engine.wiring import build_collector, build_weight_poller
from distrl.episodes.collector import Collector
from distrl.episodes.policy_batcher import DecisionService
from distrl.errors import LearnerGone
from distrl.runs.run_directory import RunDirectory

LAST_SECONDS = 15.0  # for an orderly end after the connection has gone

log = logging.getLogger(__name__)


@dataclass(slots=True)
class CollectorService:
    """Runs one collector as the learner's messages order."""

    link: MessageSocket
    collector: Collector[Device]
    sender: TrajectorySender
    admission: PacedAdmission
    heartbeat_seconds: float
    encodings: EncodingSender
    _orders: queue.SimpleQueue[Play | Stop] = field(default_factory=queue.SimpleQueue)
    _over: threading.Event = field(default_factory=threading.Event)

    def serve(self) -> None:
        """Play until told to stop."""
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        beating = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beating.start()
        try:
            while isinstance(order := self._orders.get(), Play):
                self.encodings.wanted = order.share_encodings
                self.collector.run(order.tasks)
                if order.tasks is not None:
                    self._send_heartbeat()
                    self.link.send(Played())
        finally:
            self._over.set()
            beating.join()

    # What comes in ------------------------------------------------------------------------------

    def _listen(self) -> None:
        try:
            while True:
                self._hear(self.link.receive())
        except EOFError as error:
            log.warning("the learner has gone: %s", error)
            self._leave()

    def _hear(self, message: Message) -> None:
        match message:
            case Received() | Refused():
                self.sender.answered(message)
            case Pace():
                self.admission.pace = message
            case Play():
                self._orders.put(message)
            case Stop(finish_within):
                self.collector.stop(finish_within)
                self._orders.put(message)
            case _:
                raise TypeError(f"a collector was sent a {type(message).__name__}")

    def _leave(self) -> None:
        """End after the learner has gone; exit after `LAST_SECONDS` even if a device hangs."""
        end = threading.Timer(LAST_SECONDS, os._exit, args=(3,))
        end.daemon = True
        end.start()
        self.sender.break_off()
        self.collector.stop()
        self._orders.put(Stop(0.0))

    # What goes out ------------------------------------------------------------------------------

    def _beat(self) -> None:
        """Send heartbeats, and one more at the end with the last finished episodes."""
        try:
            while not self._over.wait(self.heartbeat_seconds):
                self._send_heartbeat()
            self._send_heartbeat()
        except EOFError:
            return  # the listener sees it, too

    def _send_heartbeat(self) -> None:
        finished = tuple(self.collector.drain_finished())
        state = json.dumps(self.collector.state())
        self.link.send(Heartbeat(self.collector.report(), finished, state))


def _policy_client(config: TrainingConfig, run: RunDirectory, name: str) -> DecisionService | None:
    """Return a client of this machine's policy process; None: the collector has a policy."""
    if not config.one_policy_per_node:
        return None
    return PolicyClient(name, partial(find_policy_process, run.path))


def collect(connection: socket.socket, path: Path, registration: Registration) -> None:
    """Run the collector process from the fork to its exit; never return."""
    gc.freeze()  # never collect the forkserver's objects: their memory stays shared
    info, run = registration.info, RunDirectory(path)
    set_up_process(info.name, path / "logs" / f"{info.name}.log")
    threading.excepthook = end_process_with
    link = MessageSocket(connection)
    config = load_config(run.config)
    use_threads(config.collection.threads)
    sender = TrajectorySender(link.send)
    admission, encodings = PacedAdmission(), EncodingSender(link.send)
    with ExitStack() as opened:
        collector = build_collector(
            config,
            info.name,
            info.number,
            sink=sender,
            weights=build_weight_poller(config, run.weights),
            admission=admission,
            opened=opened,
            logs=run.path / "logs",
            batcher=_policy_client(config, run, info.name),
            share=encodings,
        )
        if registration.state:
            collector.load_state(json.loads(registration.state))
        log.info("%s is ready", info.name)
        service = CollectorService(
            link, collector, sender, admission, config.collection.heartbeat_seconds, encodings
        )
        try:
            service.serve()
        except (EOFError, LearnerGone) as error:
            log.warning("ended: %s", error)
    logging.shutdown()
    os._exit(0)  # a thread that hangs in a device cannot be waited for
