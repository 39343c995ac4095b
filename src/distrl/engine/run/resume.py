"""Starts a run, or resumes one that was stopped or killed.

A resumed run continues from its last checkpoint: weights, optimisers, replay with its priorities,
counters, random state, curriculum. Trajectories stored after the checkpoint are learned from as if
they arrived now; none is lost, none is counted twice. If later weights were published meanwhile,
those of the checkpoint get a new version, since versions only grow. `TrainingState` is what a
checkpoint holds: the learner's state and the engine's, always of the same moment.

In the replay, ids of a corpus begin with `CORPUS`. Without the prefix they would equal the ids of
this run's first trajectories (collectors have the same names in every run), and those would be
dropped as duplicates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from distrl.agent.loading import usual_dialect
from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.errors import CorruptCheckpoint, CorruptWeights, UsageError
from distrl.json_lines import read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.learner import Learner
from distrl.records import Ending, Trajectory, tasks_split
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import config_losses, read_progress
from distrl.runs.run_records import EpisodeLine
from distrl.weights.weight_store import WeightStore

CORPUS = "corpus/"  # prefix of the ids of its trajectories in the replay
EXPORTED = ("policy", "best_policy")  # directories of a run that hold a model
_GO_ON = "give {}, or --set learning.any_corpus=true to learn from it all the same"


class TrainingState:
    """Implements what `CheckpointFolder` saves and restores for a training run.

    The engine's state is how far the learner had read in the trajectory store, the seconds of
    training, and the state of each collector (its task source).
    """

    def __init__(self, learner: Learner, arrivals: ArrivalQueue) -> None:
        self.learner = learner
        self.arrivals = arrivals
        self.seconds = 0.0  # of training so far
        self.collectors: dict[int, str] = {}  # state (JSON) by number
        self.corpus: dict[str, Trajectory] = {}  # by id in the replay; filled only while restoring

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
        """Restore what was saved; return the ids of trajectories that `find` does not have."""
        try:
            learner, engine = state["learner"], state["engine"]
            ids = learner["replay"]["ids"]
            taken = int(engine["taken"])
            seconds = float(engine["seconds"])
            collectors = {int(n): str(s) for n, s in json.loads(engine["collectors"]).items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptCheckpoint(
                f"this is no checkpoint of a training run ({type(error).__name__}: {error}); it is "
                "of something else, or of another version of DistRL"
            ) from error
        lost = self.learner.load_state(learner, self._with_corpus(ids, find))
        self.arrivals.taken = taken
        self.seconds, self.collectors = seconds, collectors
        return lost

    def _with_corpus(
        self, ids: Sequence[str], find: Callable[[str], Trajectory | None]
    ) -> Callable[[str], Trajectory | None]:
        """Return a lookup that searches the corpus as well.

        Older checkpoints name its trajectories without the prefix. If any id has the prefix, an id
        without it belongs to this run, and must not be looked up in the corpus.
        """
        prefixed = any(name.startswith(CORPUS) for name in ids)

        def found(name: str) -> Trajectory | None:
            of_corpus = name if prefixed else f"{CORPUS}{name}"
            return find(name) or self.corpus.get(of_corpus)

        return found


def begin(
    config: TrainingConfig,
    state: TrainingState,
    say: Callable[[str], None] = lambda said: None,
    damaged: Callable[[str], None] = lambda said: None,
) -> None:
    """Start a new run: load the corpus, if one is named, into the replay. `damaged` is told what of
    it cannot be read.
    """
    if config.learning.corpus:
        _check_player(config, say)
        fit = (_checked(config, each) for each in corpus(config.learning.corpus, damaged))
        state.learner.preload(map(_of_corpus, fit))


def resume(
    config: TrainingConfig,
    state: TrainingState,
    checkpoints: CheckpointFolder,
    store: TrajectoryStore,
    weights: WeightStore,
    say: Callable[[str], None] = lambda said: None,
    damaged: Callable[[str], None] = lambda said: None,
) -> tuple[str, ...]:
    """Restore the last checkpoint; start anew where there is none yet.

    Return the ids of trajectories that it had learned from and that the corpus no longer has.
    """
    if config.learning.corpus:
        of_corpus = map(_of_corpus, corpus(config.learning.corpus, damaged))
        state.corpus = {each.id: each for each in of_corpus}
    lost = checkpoints.restore(state, store.find)
    state.corpus = {}
    if lost is None:
        begin(config, state, say, damaged)
    state.arrivals.taken = min(state.arrivals.taken, store.position)  # lower, if some was lost
    for stored in store.read(after=state.arrivals.taken):
        if stored.trajectory.ending is not Ending.AWAITING_VERDICT:  # arrives with its verdict
            state.arrivals.put(stored)
    _publish_again(state.learner, weights)
    return tuple(name for name in lost or () if name not in store)


def _publish_again(learner: Learner, weights: WeightStore) -> None:
    """Publish the checkpoint's weights, unless they are the newest published ones, and intact."""
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
    """Load the episode log, and log the episodes that were stored but not yet logged.

    Those that still wait for a verdict are submitted to the judge again.
    """
    lines = read_lines(run.episodes, EpisodeLine)
    episode_log.recall(lines)
    noted = {line.id for line in lines}
    for name in store.ids:
        if name not in noted and (trajectory := store.find(name)) is not None:
            episode_log.arrived(trajectory)
            receiver.judge_again(trajectory)
    episode_log.close()


def _check_player(config: TrainingConfig, say: Callable[[str], None]) -> None:
    """Raise if another model has played the corpus, or the same model in another dialect: its
    tokens mean something else.
    """
    if config.learning.any_corpus:
        return
    given, path = f"learning.corpus={config.learning.corpus!r}", Path(config.learning.corpus)
    run = RunDirectory(path.parent if path.name == "trajectories" else path)
    if not run.config.exists():
        say(f"{given} does not say which model has played it, so nobody can tell whether it fits")
        return
    for loss in config_losses(run):
        raise UsageError(
            f"{given}: {run.config} {loss.reason}, and it says which model has played; "
            f"{_GO_ON.format('that file as it was written')}"
        )
    player, own = load_config(run.config).agent, config.agent
    if _model_name(player.model) != _model_name(own.model):
        raise UsageError(
            f"{given} was played by the model {player.model}, and "
            f"this run trains {own.model}; {_GO_ON.format(f'agent.model={player.model}')}"
        )
    if player.dialect != own.dialect:
        usual = usual_dialect(own.model, Path(own.adapter) if own.adapter else None)
        theirs, ours = player.dialect or usual, own.dialect or usual
        if theirs != ours:
            raise UsageError(
                f"{given} was played in the dialect {theirs}, and this run trains in {ours}; "
                f"{_GO_ON.format(f'agent.dialect={theirs}')}"
            )


def _model_name(model: str) -> tuple[str, ...]:
    """Return a model's name wherever it lies: its directory, and the run that exported it."""
    parts = Path(model).parts
    return parts[-2:] if parts[-1] in EXPORTED else parts[-1:]


def _of_corpus(trajectory: Trajectory) -> Trajectory:
    """Return a copy with the prefix `CORPUS`, so that no trajectory of this run has its id."""
    branch = trajectory.branch
    if branch is not None:
        branch = replace(branch, parent=f"{CORPUS}{branch.parent}")
    return replace(trajectory, id=f"{CORPUS}{trajectory.id}", branch=branch)


def _checked(config: TrainingConfig, trajectory: Trajectory) -> Trajectory:
    """Return the trajectory; raise if its task is of a split on which success is measured."""
    split = trajectory.task.split
    measured = {tasks_split(each.evaluation.split) for each in config.measured().values()}
    if (
        tasks_split(split) in measured
        and config.evaluation.measures
        and not config.learning.any_corpus
    ):
        raise UsageError(
            f"learning.corpus={config.learning.corpus!r} has {trajectory.task.id}, of the split "
            f"{split!r}, on whose tasks this run is evaluated; "
            f"{_GO_ON.format('a corpus of training tasks')}"
        )
    return trajectory


def corpus(directory: str, say: Callable[[str], None] = lambda said: None) -> Iterator[Trajectory]:
    """Yield the trajectories of a store or run directory; tell `say` what cannot be read."""
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
