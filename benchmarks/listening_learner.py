"""The learner's side of joining, with a real loopback listener, but without training."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from distrl.config.toml_writer import to_toml
from distrl.config.training_config import load_config
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Pace
from distrl.engine.join.decision_relay import DecisionRelay
from distrl.engine.join.identity import Identity
from distrl.engine.join.join_listener import JoinService, listening
from distrl.engine.join.join_messages import PROTOCOL, JoinRequest
from distrl.engine.join.join_sessions import JoinSessions
from distrl.engine.join.learner_client import LearnerClient
from distrl.engine.supervision.collector_registry import CollectorRegistry
from distrl.json_lines import LineLog
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_store import WeightStore

SETTINGS = to_toml(
    load_config(
        None,
        [
            "tasks.templates=clock.turn_off_alarm", "collection.heartbeat_seconds=0.1",
            "engine.join.listen=127.0.0.1:0", "devices.count=7",
        ],
    )
)  # fmt: skip


@dataclass
class ListeningLearner:
    """The parts of a listening learner; the registry never holds collectors back."""

    folder: Path
    registry: CollectorRegistry
    service: JoinService
    identity: Identity
    arrivals: ArrivalQueue
    weights: WeightStore
    port: int = 0
    said: list[str] = field(default_factory=list)

    @property
    def refusals(self) -> dict[str, int]:
        return dict(self.service.sessions.refusals)

    def client(self, port: int = 0, token: str = "", fingerprint: str = "") -> LearnerClient:
        return LearnerClient(
            f"https://127.0.0.1:{port or self.port}",
            token or self.identity.token(),
            fingerprint or self.identity.fingerprint,
        )

    def stored(self) -> list[str]:
        """Return the ids of all stored trajectories, in the store's order."""
        return [each.trajectory.id for each in TrajectoryReader(self.folder / "store").read()]

    def publish(self, version: int, size: int = 1000) -> None:
        numbers = np.random.default_rng(version).random(size, dtype=np.float32)
        self.weights.publish({"layer": numbers}, version)


@contextlib.contextmanager
def listening_learner(
    folder: Path,
    max_waiting: int = 10**6,
    settings: str = SETTINGS,
    relay: DecisionRelay | None = None,
) -> Iterator[ListeningLearner]:
    """Open a learner in that folder; opening it again corresponds to a restart."""
    run = RunDirectory(folder)
    arrivals, said = ArrivalQueue(), list[str]()
    with TrajectoryStore(folder / "store") as store, LineLog.open(run.episodes) as lines:
        episode_log = EpisodeLog(lines, lambda: 0.0)
        receiver = TrajectoryReceiver(store, arrivals, episode_log, max_waiting)
        registry = CollectorRegistry(
            count=0,
            restarts=0,
            silent_seconds=5.0,
            run=run,
            episode_log=episode_log,
            waiting=lambda: 0,
            say=said.append,
            wake=arrivals.wake,
        )
        registry.set_pace(Pace(version=0, free=True))
        identity = Identity.in_folder(folder / "join")
        weights = WeightStore(folder / "weights", framework="np")
        sessions = JoinSessions(registry, identity.token(), folder / "join" / "members.json")
        service = JoinService(sessions, registry, receiver, weights, settings, relay)
        learner = ListeningLearner(
            folder, registry, service, identity, arrivals, weights, said=said
        )
        with listening(service, identity, "127.0.0.1:0") as learner.port:
            yield learner


def join_request(member: str = "0" * 32, place: str = "attic") -> JoinRequest:
    return JoinRequest(PROTOCOL, member, secrets.token_hex(16), place, 2)
