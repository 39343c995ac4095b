"""The policy process of a machine: one policy that decides for all of its collectors.

The forkserver forks it, as it does collectors; `PolicySupervisor` in the learner's process restarts
it. It builds its `PolicyServer` from the run directory's config, takes requests from collectors
(`policy_listener`), and loads newer weights between two batches. It sends the learner its report as
a heartbeat, and its encodings if the learner can use them. It keeps no state: a replacement
continues in the middle of every episode.

It is a process and not a thread of the learner, since both are bound by Python and would contend
for the GIL. Each has its own CUDA context, and the GPU switches between the two.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
import threading
from functools import partial
from pathlib import Path

from distrl.agent.torch_device import use_threads
from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.ingest.messages import MessageSocket
from distrl.engine.local.policy_listener import PolicyListener
from distrl.engine.local.process_lifetime import end_process_with, set_up_process
from distrl.engine.local.shared_encodings import EncodingSender
from distrl.engine.serving.policy_server import PolicyServer
from distrl.engine.supervision.collector_registry import Registration
from distrl.engine.wiring import build_server, build_weight_poller
from distrl.processor import usable_cores
from distrl.runs.run_directory import RunDirectory

SHARE_ENCODINGS = "share encodings"  # as the `state` of its registration: send encodings
SWITCH_SECONDS = 0.0002  # that a thread holds the GIL while others (the deciding one) wait

log = logging.getLogger(__name__)


def decide_for_collectors(
    connection: socket.socket, path: Path, registration: Registration
) -> None:
    """Run the policy process from the fork to its exit; never return."""
    gc.freeze()  # never collect the forkserver's objects: their memory stays shared
    name, run = registration.info.name, RunDirectory(path)
    set_up_process(name, path / "logs" / f"{name}.log")
    threading.excepthook = end_process_with
    sys.setswitchinterval(SWITCH_SECONDS)
    config, link = load_config(run.config), MessageSocket(connection)
    use_threads(_threads(config))
    share = EncodingSender(link.send, wanted=registration.state == SHARE_ENCODINGS)
    weights = build_weight_poller(config, run.weights)
    server = build_server(config, name, weights, share)
    listener = PolicyListener(server, path)
    log.info("%s is ready", name)
    seconds = config.collection.heartbeat_seconds
    for work in (listener.listen, listener.send_answers, partial(_report, server, link, seconds)):
        threading.Thread(target=work, daemon=True).start()
    server.serve(lambda: True)  # until it is killed


def _threads(config: TrainingConfig) -> int:
    """Return the threads that all collectors' policies would have, one per core at most."""
    settings = config.collection
    return min(settings.collectors * settings.threads, usable_cores())


def _report(server: PolicyServer, link: MessageSocket, seconds: float) -> None:
    """Send heartbeats; the learner kills a policy process that sends none."""
    pause = threading.Event()
    try:
        while True:
            link.send(server.report())
            pause.wait(seconds)
    except EOFError as error:
        log.warning("the learner has gone: %s", error)
        logging.shutdown()
        os._exit(0)
