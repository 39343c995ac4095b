"""Build the parts of a run from its settings: every edge of the data flow.

    tasks ───┐
    devices ─┼─► collector ─► sink … arrivals ─► learner ─► weights ─► collector
    policy ──┘

All engines build the same parts here. They differ in what connects sink and arrivals: only a
trajectory store (one process), or processes and connections as well. `device_wiring` builds
devices, `task_wiring` tasks, and `run.run_assembly` the run around the learner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from distrl import plugins
from distrl.agent.families.model_family import InputBuilder
from distrl.agent.loading import input_builder, open_policy, sees_elements
from distrl.agent.reference_policy import start_policy
from distrl.agent.torch_device import free_gpu_memory
from distrl.agent.vlm_policy import Share, VlmPolicy
from distrl.config.training_config import LearningSettings, TrainingConfig
from distrl.devices.device import Device
from distrl.engine.device_wiring import build_device_pool, build_judges
from distrl.engine.serving.policy_server import SERVER_BATCH, PolicyServer
from distrl.engine.task_wiring import LockedCritic, build_tasks
from distrl.episodes.collector import Collector
from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.live_feed import LiveFeed
from distrl.episodes.policy_batcher import (
    DecisionService,
    PolicyBatcher,
    PolicyBatcherSettings,
    WeightUpdater,
)
from distrl.episodes.scheduler import Admission
from distrl.episodes.trajectory_sink import TrajectorySink
from distrl.errors import NotInstalled
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.digirl import Digirl
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.algorithms.grpo import Grpo
from distrl.learning.algorithms.ppo import Ppo
from distrl.learning.algorithms.vtrace import VTraceActorCritic
from distrl.learning.batch_prefetcher import BatchPrefetcher
from distrl.learning.gradient_step import GradientStep, ReferencePolicy, autocast
from distrl.learning.learner import Arrivals, Learner, Publisher
from distrl.learning.policy_watch import NARROW_TOLERANCE, PolicyWatch
from distrl.learning.process_group import ProcessGroup
from distrl.records import Observation
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer
from distrl.reporting.gpu_estimate import checkpoints
from distrl.weights.weight_store import WeightPoller, WeightSource, WeightStore

if TYPE_CHECKING:
    from distrl.agent.served_policy import ServedPolicy

MakeAlgorithm = Callable[[GradientStep, LearningSettings, ReferencePolicy | None], Algorithm]

ALGORITHMS: dict[str, MakeAlgorithm] = {
    "a_ride": lambda step, settings, reference: ARide(step, settings.a_ride, reference),
    "digirl": lambda step, settings, _: Digirl(step, settings.digirl),
    "filtered_bc": lambda step, settings, _: FilteredBc(step, settings.filtered_bc),
    "vtrace": lambda step, settings, _: VTraceActorCritic(step, settings.vtrace),
    "ppo": lambda step, settings, _: Ppo(step, settings.ppo),
    "grpo": lambda step, settings, reference: Grpo(step, settings.grpo, reference),
}


def build_learner(
    config: TrainingConfig,
    policy: VlmPolicy,
    arrivals: Arrivals,
    weights: Publisher,
    process_group: ProcessGroup | None = None,
) -> Learner:
    """Build the learner: the edges arrivals ─► learner ─► weights."""
    step, algorithm = build_update(config, policy, process_group)
    prefetcher = build_prefetcher(config, policy)
    if prefetcher is not None:
        step.memory.other_work = lambda: prefetcher.preparations
    return Learner(
        policy=policy,
        algorithm=algorithm,
        gradient_step=step,
        replay=ReplayBuffer(config.replay),
        pacing=build_pacing(config),
        arrivals=arrivals,
        publisher=weights,
        settings=config.learning.learner,
        watch=build_watch(config, policy),
        prefetcher=prefetcher,
    )


def build_watch(config: TrainingConfig, policy: VlmPolicy) -> PolicyWatch | None:
    """Build the check that acting matches learning.

    It is looser for a server, whose precision differs, and where the learner caches encodings that
    it made in bf16.
    """
    if config.learning.learner.mode == "offline":
        return None
    narrow = config.agent.server or config.learning.learner.precision == "bf16"
    return PolicyWatch(policy, NARROW_TOLERANCE if narrow else None)


def build_prefetcher(config: TrainingConfig, policy: VlmPolicy) -> BatchPrefetcher | None:
    """Build what prepares batches during steps. None in modes that must repeat bit for bit, resumed
    or not: where learner and collectors take turns, and offline.
    """
    if config.collection.mode != "asynchronous" or config.learning.learner.mode == "offline":
        return None
    precision = config.learning.learner.precision

    def prepare(observations: Sequence[Observation]) -> None:
        with autocast(precision, policy.device):
            policy.prepare(observations)

    return BatchPrefetcher(prepare if config.learning.gpus == 1 else None)


def build_update(
    config: TrainingConfig, policy: VlmPolicy, process_group: ProcessGroup | None = None
) -> tuple[GradientStep, Algorithm]:
    """Build what computes updates: the same parts in the leader and in each follower."""
    step = GradientStep(policy, config.learning.step, process_group)
    reference = build_reference(config, policy)
    make = ALGORITHMS.get(config.learning.algorithm, make_registered)
    return step, make(step, config.learning, reference)


def make_registered(
    step: GradientStep, settings: LearningSettings, _: ReferencePolicy | None
) -> Algorithm:
    """Make a plugin's algorithm with `learning.options`."""
    algorithm: Algorithm = plugins.make(
        "algorithm",
        settings.algorithm,
        step,
        options=settings.options,
        members=("update", "discount", "draws"),
    )
    return algorithm


def build_reference(config: TrainingConfig, policy: VlmPolicy) -> ReferencePolicy | None:
    """Return the frozen start model; None if the algorithm has no KL penalty."""
    learning = config.learning
    weights = {"a_ride": learning.a_ride.kl_weight, "grpo": learning.grpo.kl_weight}
    if not weights.get(learning.algorithm):
        return None
    return start_policy(
        policy, config.agent.model, start_adapter(config), lambda: build_policy(config)
    )


def build_collector(
    config: TrainingConfig,
    name: str,
    number: int,  # of the collector in the run, from 0; determines its environment
    *,
    sink: TrajectorySink,
    weights: WeightSource,
    admission: Admission | None,
    opened: ExitStack,  # closes devices and what was started for them
    logs: Path,
    batcher: DecisionService | None = None,  # a shared one; None: its own, with its own policy
    share: Share | None = None,  # receives what its policy encodes to decide
) -> Collector[Device]:
    """Build a collector: tasks, devices, policy ─► collector ─► sink, and weights ─► collector."""
    critic: LockedCritic | None = None
    config, number = config.of_collector(number)
    if config.agent.server:
        batcher = build_served_batcher(config, weights, logs.parent, opened)
    if batcher is None:
        policy, own = build_batcher(config, name, weights)
        policy.share = share if policy.shares_encodings else None
        batcher, critic = own, LockedCritic(policy, own.policy_lock)
    device_pool = build_device_pool(config, number, opened, logs)
    live = LiveFeed(logs.parent, name, [device.name for device in device_pool.devices])
    opened.callback(live.close)
    collector = Collector(
        name=name,
        batcher=batcher,
        device_pool=device_pool,
        source=build_tasks(config, number, critic, device_pool),
        sink=sink,
        judge_for=build_judges(config),
        admission=admission,
        settings=CollectorSettings(
            environment=config.environment,
            stop_on_success=config.collection.stop_on_success,
            forks=config.collection.forks,
            elements=sees_elements(
                config.agent.model, start_adapter(config), config.agent.chosen_sees
            ),
            episode_seconds=config.collection.episode_seconds,
        ),
        live=live,
    )
    opened.callback(collector.close_devices)
    return collector


def build_server(
    config: TrainingConfig, name: str, weights: WeightSource, share: Share | None = None
) -> PolicyServer:
    """Build a policy server for collectors without a policy: policy, weights ─► server."""
    policy, batcher = build_batcher(config, name, weights)
    policy.share = share if policy.shares_encodings else None
    return PolicyServer(name, batcher, policy.prompter.past_screens)


def build_batcher(
    config: TrainingConfig, name: str, weights: WeightSource
) -> tuple[VlmPolicy, PolicyBatcher]:
    """Build a policy, seeded by the run's seed and `name`, and its batcher."""
    policy = build_policy(config)
    policy.seed(f"{config.run.seed}/{name}")
    updater = WeightUpdater(policy, weights, policy.weight_digest)
    return policy, PolicyBatcher(policy, build_batcher_settings(config), updater)


def build_served_batcher(
    config: TrainingConfig, weights: WeightSource, run: Path, opened: ExitStack
) -> PolicyBatcher:
    """Build a batcher whose policy asks `agent.server`; new weights go there as adapters."""
    policy = opened.enter_context(closing(build_served(config, run)))
    return PolicyBatcher(policy, build_batcher_settings(config), WeightUpdater(policy, weights))


def build_served(config: TrainingConfig, run: Path) -> ServedPolicy:
    try:
        from distrl.agent.served_loading import open_served
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"agent.server needs the package {error.name!r}: pip install 'distrl[served]'"
        ) from error

    agent = config.agent
    dialect, adapters = agent.dialect, run / "adapters"
    return open_served(
        agent.model, agent.policy, agent.server, adapters, dialect=dialect, sees=agent.chosen_sees
    )


def build_policy(config: TrainingConfig) -> VlmPolicy:
    agent = config.agent
    dialect, start = agent.dialect or None, start_adapter(config)
    free = free_gpu_memory(agent.policy.device)  # measured before the model is loaded
    policy = open_policy(
        agent.model, agent.policy, dialect=dialect, adapter=start, sees=agent.chosen_sees
    )
    policy.weight_version = 0  # of this run, whatever it was when the model was exported
    if checkpoints(config, free):
        policy.start_checkpointing()
    return policy


def build_inputs(config: TrainingConfig) -> InputBuilder:
    """Build what makes the inputs of `build_policy`'s model, without loading its weights."""
    agent = config.agent
    return input_builder(agent.model, start_adapter(config), agent.chosen_sees)


def start_adapter(config: TrainingConfig) -> Path | None:
    return Path(config.agent.adapter) if config.agent.adapter else None


def build_weight_store(config: TrainingConfig, directory: Path) -> WeightStore:
    return WeightStore(directory, base=config.agent.model if has_adapters(config) else "")


def build_weight_poller(config: TrainingConfig, directory: Path) -> WeightPoller:
    """Build the source of new weights for a policy that decides.

    Where learner and collectors take turns, it checks before every batch: a round may begin within
    the poller's usual pause after the last one, and must use the weights published in between.
    """
    store = build_weight_store(config, directory)
    if config.collection.mode == "asynchronous":
        return WeightPoller(store)
    return WeightPoller(store, poll_seconds=0.0)


def has_adapters(config: TrainingConfig) -> bool:
    return config.agent.policy.lora is not None or bool(config.agent.adapter)


def build_pacing(config: TrainingConfig) -> Pacing:
    """Build the pacing, with a tight tolerance where learner and collectors take turns."""
    batch = config.learning.learner.batch_trajectories
    pacing = config.pacing.new(batch)
    if config.collection.mode == "asynchronous":
        return pacing
    tight = (batch + pacing.samples_per_insert) / 2
    return Pacing(
        pacing.samples_per_insert, pacing.minimum_fill, min(max(tight, 0.5), pacing.tolerance)
    )


def build_batcher_settings(config: TrainingConfig) -> PolicyBatcherSettings:
    in_turns = config.collection.mode != "asynchronous"
    return PolicyBatcherSettings(
        most=SERVER_BATCH if config.one_policy_per_node else PolicyBatcherSettings().most,
        swap="between_episodes" if in_turns else "between_decisions",
    )
