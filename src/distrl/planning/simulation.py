"""A discrete-event simulation of a whole system: `simulate` turns settings into a `Prediction`.

Deterministic: the same settings and seed give the same prediction, to the last digit. Counting
starts after a warm-up, the first third of the time. Without `minutes` it runs until some thousands
of episodes and dozens of versions have passed, or MAX_EVENTS, whichever comes first, so that ten
thousand phones take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from distrl.planning.event_queue import EventQueue, Level
from distrl.planning.fleet import Fleet
from distrl.planning.plan_settings import PlanSettings
from distrl.planning.planned_batcher import PlannedBatcher, batch_seconds
from distrl.planning.planned_learner import PlannedLearner

TRAINED_COPIES = 3  # gradients and two moments of AdamW, beside the weights
PHONE_WORK = ("reset", "act")
MEGABIT = 1e6 / 8
MAX_EVENTS = 4_000_000
LEAST_EPISODES, LEAST_ROUNDS, LEAST_VERSIONS = 6_000, 6, 45
SLICES = 60  # counts are recorded this many times
WARM_UP = 1 / 3


@dataclass(frozen=True, slots=True)
class StalenessSpread:
    """Staleness in versions, of the trajectories that arrived."""

    mean: float
    median: float
    high: float  # the 95th percentile
    most: int
    learned: float  # the mean of what was drawn, from a replay without priorities

    @classmethod
    def of(cls, arrived: list[int], learned: list[float]) -> StalenessSpread:
        values = np.asarray(arrived or [0])
        return cls(
            mean=float(values.mean()),
            median=float(np.median(values)),
            high=float(np.quantile(values, 0.95)),
            most=int(values.max()),
            learned=float(np.mean(learned)) if learned else 0.0,
        )


@dataclass(frozen=True, slots=True)
class Prediction:
    """Figures of one system over the counted time. Seconds are those of the devices' clock."""

    phones: int
    policy_gpus: int
    learner_gpus: int
    seconds: float  # that were counted, after the warm-up
    episodes: int  # that were counted
    trajectories_per_minute: float
    decisions_per_second: float
    updates_per_minute: float
    versions_per_minute: float
    mean_batch: float
    episode_seconds: float
    in_flight: float
    device_busy: float  # share of the phones' time, as `CollectorReport.device_busy`
    policy_busy: float
    policy_load: float  # decisions, as a share of what full batches without pause would make
    learner_idle: float
    samples_per_insert: float
    stale_share: float  # of the trajectories: came too late to be learned from
    phone_time: dict[str, float]  # shares of a phone's time, by what it does or waits for
    staleness: StalenessSpread
    to_learner_megabits: float  # a second
    from_learner_megabits: float
    broadcast_seconds: float  # until the last node has a version
    learner_gigabytes: float
    node_gigabytes: float  # of a machine with phones and collectors


def broadcast_seconds(settings: PlanSettings) -> tuple[float, ...]:
    """Seconds from publication until each node has the new weights."""
    network, nodes = settings.network, settings.collectors.nodes
    once = network.weight_megabytes * 1e6 / (network.link_megabits * MEGABIT)
    if network.broadcast == "star":
        return tuple(once * (place + 1) for place in range(nodes))
    return tuple(once * (place + 1).bit_length() for place in range(nodes))


def trajectory_bytes(settings: PlanSettings, decisions: float) -> float:
    """Return the size of a trajectory: T decisions have T + 1 screens."""
    return (decisions + 1) * settings.network.screen_kilobytes * 1e3


def learner_gigabytes(settings: PlanSettings, decisions: float) -> float:
    """Return the learner's memory: a full replay, the weights, gradients and optimiser state."""
    if not settings.learner.gpus:
        return 0.0
    replay = settings.learner.capacity * trajectory_bytes(settings, decisions) / 1e9
    trained = min(settings.policy.gigabytes, settings.network.weight_megabytes / 1e3)
    return replay + settings.policy.gigabytes + TRAINED_COPIES * trained


def node_gigabytes(settings: PlanSettings) -> float:
    """Return a machine's memory: its share of the phones, collectors and policy copies."""
    collectors = settings.collectors.count * settings.collectors.gigabytes
    phones = settings.phones.count * settings.phones.gigabytes
    copies = settings.policy.copies * settings.policy.gigabytes
    return (collectors + phones + copies) / settings.collectors.nodes


class Simulation:
    """All parts of one simulated system."""

    def __init__(self, settings: PlanSettings, seed: int = 0) -> None:
        self.settings = settings
        self.events = EventQueue()
        self.fleet = Fleet(settings, self.events, seed)
        self.policy_busy = Level(self.events)
        self.batchers = [
            PlannedBatcher(
                n, settings.policy, self.events, self.policy_busy, self.fleet.answered, seed
            )
            for n in range(settings.policy.copies)
        ]
        self.learner = PlannedLearner(
            settings.learner,
            settings.pacing,
            self.events,
            self._broadcast,
            self.fleet.ask_again,
            seed,
        )
        self._broadcast_seconds = broadcast_seconds(settings)

    def run(self, minutes: float | None = None) -> Prediction:
        """Run the simulation; predict from what was counted after the warm-up."""
        self.fleet.put_to_work(self.batchers, self.learner)
        until = self._long_enough() if minutes is None else 60.0 * minutes
        counts = [self._count()]
        for place in range(1, SLICES + 1):
            on = self.events.run(until * place / SLICES, MAX_EVENTS)
            counts.append(self._count())
            if not on:
                break
        begin = WARM_UP * counts[-1]["seconds"]
        first = next(each for each in counts if each["seconds"] >= begin)
        return self._prediction(first, counts[-1])

    def _long_enough(self) -> float:
        episode = self.fleet.unloaded_seconds
        seconds = max(LEAST_ROUNDS * episode, LEAST_EPISODES * episode / self.settings.phones.count)
        plan = self.settings.learner
        if plan.gpus:
            version = plan.update.mean * plan.update_share * plan.updates_per_publish
            seconds = max(seconds, LEAST_VERSIONS * version)
        return seconds

    def _broadcast(self, version: int) -> None:
        """Schedule the new weights for each copy: broadcast to its node, plus half a poll."""
        look = self.settings.policy.look_seconds / 2
        nodes = len(self._broadcast_seconds)
        for batcher in self.batchers:
            wait = self._broadcast_seconds[batcher.number % nodes] + look
            self.events.after(wait, self._arrived, batcher, version)

    def _arrived(self, batcher: PlannedBatcher, version: int) -> None:
        batcher.update_weights(version)
        self.fleet.ask_again()

    def _count(self) -> dict[str, float]:
        """All monotonic counters at this point in time."""
        fleet, learner = self.fleet, self.learner
        return {
            "seconds": self.events.now,
            "episodes": fleet.episodes,
            "decisions": fleet.decisions,
            "batches": sum(batcher.batches for batcher in self.batchers),
            "updates": learner.updates,
            "versions": learner.version,
            "inserted": learner.pacing.inserted,
            "sampled": learner.pacing.sampled,
            "stale": learner.stale,
            "arrived": len(learner.staleness),
            "drawn": len(learner.learned_staleness),
            "episode_seconds": fleet.episode_seconds,
            "in_flight": fleet.in_flight.total,
            "policy_busy": self.policy_busy.total,
            "learner_busy": learner.busy.total,
            **{name: level.total for name, level in fleet.levels.items()},
        }

    def _prediction(self, first: dict[str, float], last: dict[str, float]) -> Prediction:
        settings, learner = self.settings, self.learner
        grown = {name: last[name] - first[name] for name in last}
        seconds = max(1e-9, grown["seconds"])
        episodes, copies, most = grown["episodes"], settings.policy.copies, settings.policy.most
        versions = grown["versions"] / seconds
        phone_time = {
            name: grown[name] / seconds / settings.phones.count for name in self.fleet.levels
        }
        length = grown["decisions"] / max(1, episodes)
        heavy = trajectory_bytes(settings, length) / MEGABIT
        broadcasts = settings.network.weight_megabytes * 1e6 / MEGABIT
        fan_out = settings.collectors.nodes if settings.network.broadcast == "star" else 1
        full_batches = most / max(1e-9, batch_seconds(settings.policy)[most])  # decisions a second
        idle = max(0.0, 1.0 - grown["learner_busy"] / seconds)
        return Prediction(
            phones=settings.phones.count,
            policy_gpus=copies,
            learner_gpus=settings.learner.gpus,
            seconds=seconds,
            episodes=int(episodes),
            trajectories_per_minute=60.0 * episodes / seconds,
            decisions_per_second=grown["decisions"] / seconds,
            updates_per_minute=60.0 * grown["updates"] / seconds,
            versions_per_minute=60.0 * versions,
            mean_batch=grown["decisions"] / max(1, grown["batches"]),
            episode_seconds=grown["episode_seconds"] / max(1, episodes),
            in_flight=grown["in_flight"] / seconds,
            device_busy=sum(phone_time[name] for name in PHONE_WORK),
            policy_busy=grown["policy_busy"] / seconds / copies,
            policy_load=grown["decisions"] / seconds / copies / full_batches,
            learner_idle=idle if settings.learner.gpus else 0.0,
            samples_per_insert=grown["sampled"] / max(1, grown["inserted"]),
            stale_share=grown["stale"] / max(1, episodes),
            phone_time=phone_time,
            staleness=StalenessSpread.of(
                learner.staleness[int(first["arrived"]) : int(last["arrived"])],
                learner.learned_staleness[int(first["drawn"]) : int(last["drawn"])],
            ),
            to_learner_megabits=heavy * episodes / seconds,
            from_learner_megabits=broadcasts * fan_out * versions,
            broadcast_seconds=max(self._broadcast_seconds),
            learner_gigabytes=learner_gigabytes(settings, length),
            node_gigabytes=node_gigabytes(settings),
        )


def simulate(settings: PlanSettings, seed: int = 0, minutes: float | None = None) -> Prediction:
    """Predict the figures of a system."""
    return Simulation(settings, seed).run(minutes)
