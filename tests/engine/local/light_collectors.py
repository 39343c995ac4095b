"""Collector processes without a model or a phone; `Hello.state` says how one behaves."""

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
    Heartbeat,
    Hello,
    Message,
    Pace,
    Play,
    Played,
    Stop,
    from_bytes,
    to_bytes,
)
from distrl.engine.local.framed_socket import FramedSocket
from distrl.engine.local.process_lifetime import set_up_process
from distrl.replay.trajectory_encoding import encode_trajectory


def light_collector(connection: socket.socket, hello: Hello) -> None:
    """Greets with a heartbeat; plays each task in no time; ends when it is told to."""
    set_up_process(hello.name, Path(hello.run) / "logs" / f"{hello.name}.log")
    if hello.state == "fail":
        sys.stderr.write("the phone has melted\n")
        sys.stderr.flush()
        os._exit(7)
    link = FramedSocket(connection)
    played = 0

    def send(message: Message) -> None:
        link.send(to_bytes(message))

    send(Heartbeat(report(trajectories=0, name=hello.name), (), hello.state))
    while True:
        try:
            message = from_bytes(link.receive())
        except EOFError:
            os._exit(3)
        match message:
            case Stop():
                os._exit(0)
            case Play(tasks):
                for _ in range(tasks or 1):
                    played += 1
                    send(Delivery(encode_trajectory(trajectory(f"{hello.name}/{played}"))))
                if hello.state == "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                if tasks is not None:
                    send(Played())
            case Pace() if message.version == 99:
                send(Heartbeat(report(trajectories=played, name=hello.name), (), "paced"))
            case _:
                pass
