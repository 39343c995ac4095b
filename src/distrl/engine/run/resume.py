"""Starts a run, or resumes one that was stopped or killed.

A resumed run continues from its last checkpoint: weights, optimisers, replay with its priorities,
counters, random state, curriculum. Trajectories stored after the checkpoint are learned from as if
they arrived now; none is lost, none is counted twice. The weights of the checkpoint get a new
version where later ones were published meanwhile: versions only grow. `TrainingState` is what a
checkpoint holds: the learner's state and the engine's, always of one moment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.errors import CorruptCheckpoint, CorruptWeights, UsageError
from distrl.json_lines import read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner import Learner
from distrl.records import Ending, Trajectory
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import read_progress
from distrl.runs.run_records import EpisodeLine
from distrl.weights.weight_store import WeightStore

_GO_ON = "give {}, or --set learning.any_corpus=true to learn from it all the same"


class TrainingState:
    """Implements what `CheckpointFolder` saves and restores for a training run.

    Of the engine: how far the learner had read in the trajectory store, seconds of training, and
    the state of each collector (its task source).
    """

    def __init__(self, learner: Learner, arrivals: ArrivalQueue) -> None:
        self.learner = learner
        self.arrivals = arrivals
        self.seconds = 0.0  # of training so far
        self.collectors: dict[int, str] = {}  # state (JSON) by number

    @property
    def updates(self) -> int:
        return self.learner.updates

    def state_dict(self) -> dict[str, Any]:
        return {
            "learner": self.learner.state_dict(),
            "engine": {
                "taken": self.arrivals.taken,
                "seconds": self.seconds,
                "collectors": json.dumps(self.collectors),
            },
        }

    def load_state(
        self, state: Mapping[str, Any], find: Callable[[str], Trajectory | None]
    ) -> tuple[str, ...]:
        """Restore what was saved; returns the ids of trajectories that `find` does not have."""
        try:
            learner, engine = state["learner"], state["engine"]
            taken = int(engine["taken"])
            seconds = float(engine["seconds"])
            collectors = {int(n): str(s) for n, s in json.loads(engine["collectors"]).items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptCheckpoint(
                f"this is no checkpoint of a training run ({type(error).__name__}: {error}); it is "
                "of something else, or of another version of DistRL"
            ) from error
        lost = self.learner.load_state(learner, find)
        self.arrivals.taken = taken
        self.seconds, self.collectors = seconds, collectors
        return lost


def begin(
    config: TrainingConfig, state: TrainingState, say: Callable[[str], None] = lambda said: None
) -> None:
    """Start a new run: load the corpus into the replay, where one is named."""
    if config.learning.corpus:
        _check_player(config)
        fit = (_checked(config, each) for each in corpus(config.learning.corpus, say))
        state.learner.preload(fit)


def resume(
    config: TrainingConfig,
    state: TrainingState,
    checkpoints: CheckpointFolder,
    store: TrajectoryStore,
    weights: WeightStore,
    say: Callable[[str], None] = lambda said: None,
) -> None:
    """Restore the last checkpoint; start anew where there is none yet."""
    known = {}
    if config.learning.corpus:
        known = {each.id: each for each in corpus(config.learning.corpus, say)}
    restored = checkpoints.restore(state, lambda name: store.find(name) or known.get(name))
    if restored is None:
        begin(config, state, say)
    state.arrivals.taken = min(state.arrivals.taken, store.position)  # less, if some was lost
    for stored in store.read(after=state.arrivals.taken):
        if stored.trajectory.ending is not Ending.AWAITING_VERDICT:  # arrives with its verdict
            state.arrivals.put(stored)
    _publish_again(state.learner, weights)


def _publish_again(learner: Learner, weights: WeightStore) -> None:
    """Publish the checkpoint's weights, unless the newest that were published are those, whole."""
    latest = weights.latest_version()
    if (latest or 0) == learner.version and (latest is None or _is_whole(weights, latest)):
        return
    if latest is not None and latest >= learner.version:
        learner.version = latest + 1
    learner.publish_to(weights)


def _is_whole(weights: WeightStore, version: int) -> bool:
    try:
        return weights.load().version == version
    except CorruptWeights:
        return False


def recall(
    episode_log: EpisodeLog, run: RunDirectory, store: TrajectoryStore, receiver: TrajectoryReceiver
) -> None:
    """Load the episode log; episodes that were stored but not yet logged are logged now.

    Those that were waiting for a verdict are judged again.
    """
    lines = read_lines(run.episodes, EpisodeLine)
    episode_log.recall(lines)
    noted = {line.id for line in lines}
    for name in store.ids:
        if name not in noted and (trajectory := store.find(name)) is not None:
            episode_log.arrived(trajectory)
            receiver.judge_again(trajectory)
    episode_log.close()


def _check_player(config: TrainingConfig) -> None:
    """Refuse a run as a corpus that another model has played: its tokens mean something else."""
    settings = RunDirectory(Path(config.learning.corpus)).config
    if config.learning.any_corpus or not settings.exists():
        return
    player = load_config(settings).agent.model
    if Path(player).name != Path(config.agent.model).name:
        raise UsageError(
            f"learning.corpus={config.learning.corpus!r} was played by the model {player}, and "
            f"this run trains {config.agent.model}; {_GO_ON.format(f'agent.model={player}')}"
        )


def _checked(config: TrainingConfig, trajectory: Trajectory) -> Trajectory:
    """Refuse what was played on tasks that success is measured on."""
    split = trajectory.task.split
    measured = {each.evaluation.split for each in config.measured().values()}
    evaluated = config.evaluation.before or config.evaluation.after
    if split in measured and evaluated and not config.learning.any_corpus:
        raise UsageError(
            f"learning.corpus={config.learning.corpus!r} has {trajectory.task.id}, of the split "
            f"{split!r}, on which this run is evaluated; "
            f"{_GO_ON.format('a corpus of training tasks')}"
        )
    return trajectory


def corpus(directory: str, say: Callable[[str], None] = lambda said: None) -> Iterator[Trajectory]:
    """The trajectories of a store, or of a run directory; `say` gets what cannot be read."""
    path = Path(directory)
    stores = [each for each in (path / "trajectories", path) if each.is_dir()]
    if not stores:
        raise UsageError(
            f"learning.corpus={directory!r}: there is no such directory; name a run directory, or "
            "a store of trajectories"
        )
    found, reader = False, TrajectoryReader(stores[0])
    for stored in reader.read():
        found = True
        yield stored.trajectory
    last, noted = reader.position, read_progress(RunDirectory(path))[0].position
    if last < noted:
        say(f"learning.corpus={directory!r} ends at position {last}, and was at {noted}")
    for damage in reader.damages:
        say(f"learning.corpus={directory!r}: left out, {damage}")
    if not found:
        raise UsageError(
            f"learning.corpus={directory!r} holds no trajectory; collect some with `distrl collect`"
        )
