"""The processes that share the learner's updates: `learning.gpus` − 1 followers beside the leader.

The leader's process starts them, one for each further GPU (on a CPU: further gloo processes, which
is meant for tests). A follower builds policy, step and algorithm from the run's config, as the
leader does, and executes the leader's work items (`learning.data_parallel`). If a follower ends
before the leader, the leader raises `FollowerLost` at its next all-reduce; no weights have changed
by then, and the run can be resumed. However the leader ends, the followers end, too: their pipe is
closed, and on Linux the kernel kills them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from distrl.agent.torch_device import require_device, use_threads
from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.local.process_lifetime import die_with_parent, name_process
from distrl.engine.run.stop_request import SIGNALS
from distrl.engine.wiring import build_policy, build_update
from distrl.errors import FollowerLost, InvalidSetting
from distrl.learning.data_parallel import DataParallelGroup, follow
from distrl.learning.process_group import ProcessGroup, SingleProcess
from distrl.runs.run_directory import RunDirectory

EXIT_SECONDS = 5.0  # that a follower may take to end by itself


@contextmanager
def learner_process_group(config: TrainingConfig, run: RunDirectory) -> Iterator[ProcessGroup]:
    """Start the followers that `learning.gpus` asks for, and end them."""
    size = config.learning.gpus
    if size == 1:
        yield SingleProcess()
        return
    check_devices(config)
    followers = [_Follower(run, rank) for rank in range(1, size)]
    connections = [each.connection for each in followers]
    group = DataParallelGroup(
        0, size, device_of(config, 0), connections, lambda seconds: _check(followers, seconds)
    )
    try:
        try:
            group.join()
        except EOFError:  # a follower has hung up, and its process is about to end
            _check(followers, EXIT_SECONDS)
            raise
        yield group
    finally:
        group.leave()
        for follower in followers:
            follower.end()


class _Follower:
    """A started follower, as the leader sees it."""

    def __init__(self, run: RunDirectory, rank: int) -> None:
        self.run = run
        self.rank = rank
        self.log = run.path / "logs" / f"learner-{rank}.log"
        self.log.parent.mkdir(exist_ok=True)
        self.connection, remote = Pipe()
        with remote, self.log.open("ab") as output:
            arguments = [str(run.path), str(rank), str(remote.fileno()), str(os.getpid())]
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__, *arguments],
                pass_fds=[remote.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def end(self) -> None:
        try:
            self.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _check(followers: Sequence[_Follower], seconds: float) -> None:
    """Raise if a follower has ended, or ends within these seconds."""
    until = time.monotonic() + seconds
    while True:
        for each in followers:
            if (code := each.process.poll()) is not None:
                raise FollowerLost(
                    f"rank {each.rank} of the learner (process {each.process.pid}) ended with "
                    f"{code} in the middle of the run; {each.log} says why. Nothing was moved "
                    f"since: go on from the last checkpoint with distrl train --resume "
                    f"{each.run.path}"
                )
        if time.monotonic() >= until:
            return
        time.sleep(0.01)


def check_devices(config: TrainingConfig) -> str:
    """Raise if there are more ranks than GPUs; else return an empty sentence (for `preflight`)."""
    device, size = config.agent.policy.device, config.learning.gpus
    if ":" in device:
        raise InvalidSetting(
            f"learning.gpus={size} with agent.policy.device={device!r}; rank r takes cuda:r: give "
            "cuda, and choose GPUs with CUDA_VISIBLE_DEVICES"
        )
    try:
        require_device(device_of(config, size - 1))
    except InvalidSetting as error:
        raise InvalidSetting(
            f"learning.gpus={size}, and rank {size - 1} finds no GPU of its own: {error}"
        ) from error
    return ""


def device_of(config: TrainingConfig, rank: int) -> str:
    device = config.agent.policy.device
    return f"{device}:{rank}" if device == "cuda" else device


def follow_leader(run: RunDirectory, rank: int, leader: Connection) -> None:
    """Run one follower until the leader ends."""
    config = load_config(run.config)
    policy_settings = replace(config.agent.policy, device=device_of(config, rank))
    config = replace(config, agent=replace(config.agent, policy=policy_settings))
    use_threads(config.learning.threads)
    policy = build_policy(config)
    group = DataParallelGroup(rank, config.learning.gpus, policy_settings.device, [leader])
    step, algorithm = build_update(config, policy, group)
    group.join()
    follow(algorithm, step, config.learning.learner.precision)
    group.leave()


def main() -> None:
    path, rank, descriptor, parent = sys.argv[1:]
    die_with_parent(int(parent))
    for number in SIGNALS:  # the followers get these, too; the leader ends the run in order
        signal.signal(number, signal.SIG_IGN)
    name_process(f"distrl-rank-{rank}")
    follow_leader(RunDirectory(Path(path)), int(rank), Connection(int(descriptor)))


if __name__ == "__main__":
    main()
