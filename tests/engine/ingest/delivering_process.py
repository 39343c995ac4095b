"""A learner's side to be killed by tests: 8 threads deliver as fast as they are acknowledged.

Started with DIRECTORY and FIRST. Thread n delivers n/FIRST, n/FIRST+1, … through one receiver and
prints `ID new` or `ID known` when it is acknowledged; from FIRST on it sends what it sent before.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Received, Refused
from distrl.json_lines import LineLog
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory


def deliver_on(receiver: TrajectoryReceiver, thread: int, first: int) -> None:
    number = first
    while True:
        one = replace(trajectory(f"{thread}/{number}"), notes=(str(number) * 20_000,))
        answered = threading.Event()

        def acknowledge(answer: Received | Refused, answered: threading.Event = answered) -> None:
            assert isinstance(answer, Received)
            os.write(1, f"{answer.id} {'new' if answer.new else 'known'}\n".encode())
            answered.set()

        receiver.deliver(encode_trajectory(one), acknowledge)
        answered.wait()
        number += 1


def main() -> None:
    directory, first = Path(sys.argv[1]), int(sys.argv[2])
    with TrajectoryStore(directory / "store") as store:
        log = EpisodeLog(LineLog.open(directory / "episodes.jsonl"), lambda: 0.0)
        receiver = TrajectoryReceiver(store, ArrivalQueue(), log, max_waiting=10**9)
        threads = [threading.Thread(target=deliver_on, args=[receiver, n, first]) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()
