"""Processes without a model or a phone; `Registration.state` says how a collector behaves."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

from tests.engine.made_up_reports import report
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.messages import (
    Delivery,
    Encodings,
    Heartbeat,
    MessageSocket,
    Pace,
    Play,
    Played,
    Stop,
)
from distrl.engine.local.process_lifetime import set_up_process
from distrl.engine.serving.policy_server import ServerReport
from distrl.engine.supervision.collector_registry import Registration
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.replay.trajectory_encoding import encode_trajectory


def light_collector(connection: socket.socket, run: Path, registration: Registration) -> None:
    """Greets with a heartbeat; plays each task in no time; ends when it is told to."""
    name, state = registration.info.name, registration.state
    set_up_process(name, run / "logs" / f"{name}.log")
    if state == "fail":
        sys.stderr.write("the phone has melted\n")
        sys.stderr.flush()
        os._exit(7)
    if state == "environment":
        (run / "environment").write_text(os.environ.get("TOLD_LATER", ""))
    link = MessageSocket(connection)
    played = 0
    link.send(Heartbeat(report(trajectories=0, name=name), (), state))
    while True:
        try:
            message = link.receive()
        except EOFError:
            os._exit(3)
        match message:
            case Stop():
                os._exit(0)
            case Play(tasks):
                for _ in range(tasks or 1):
                    played += 1
                    link.send(Delivery(encode_trajectory(trajectory(f"{name}/{played}"))))
                if state == "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                if tasks is not None:
                    link.send(Played())
            case Pace() if message.version == 99:
                link.send(Heartbeat(report(trajectories=played, name=name), (), "paced"))
            case _:
                pass


def light_policy(connection: socket.socket, run: Path, registration: Registration) -> None:
    """A policy process that decides nothing; a file in the run directory says how it behaves."""
    name = registration.info.name
    set_up_process(name, run / "logs" / f"{name}.log")
    behaviour = (run / "behaviour").read_text()
    link = MessageSocket(connection)
    if behaviour == "fail":
        sys.stderr.write("no GPU is left\n")
        sys.stderr.flush()
        os._exit(7)
    batcher = PolicyBatcherReport(5, {5: 1}, 0, 2, 0.1, 0.0)
    link.send(ServerReport(name, 1, 0, batcher))
    if registration.state:
        link.send(Encodings((("prompt", "screen"),), b"parts"))
    while True:
        signal.pause()
