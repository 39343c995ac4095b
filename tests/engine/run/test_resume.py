"""A resumed run: nothing is lost, nothing is counted twice, versions only grow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config
from tests.learning.small_circle import SmallCircle
from tests.replay.made_up_trajectories import trajectory

from distrl.agent.loading import usual_dialect
from distrl.config.training_config import TrainingConfig, load_config
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.resume import TrainingState, begin, corpus, recall, resume
from distrl.errors import CorruptCheckpoint, UsageError
from distrl.json_lines import LineLog, read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.records import Ending, Split, Verdict
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import note_progress
from distrl.runs.run_records import EpisodeLine
from distrl.weights.weight_store import WeightStore


def test_stored_trajectories_arrive_again_unless_they_wait_for_a_verdict(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path)
    state = TrainingState(SmallCircle().learner, ArrivalQueue())
    with TrajectoryStore(tmp_path / "store") as store:
        for name, ending in (
            ("c/1", Ending.SUCCESS), ("c/2", Ending.AWAITING_VERDICT), ("c/3", Ending.FAILURE)
        ):  # fmt: skip
            store.append(trajectory(name, ending=ending))
        weights = WeightStore(tmp_path / "weights")
        resume(config, state, CheckpointFolder(tmp_path / "checkpoints"), store, weights)
        arrived = [state.arrivals.popleft().id for _ in range(len(state.arrivals))]
    assert arrived == ["c/1", "c/3"]


def test_what_the_checkpoint_had_learned_from_does_not_arrive_again(tmp_path: Path) -> None:
    config, checkpoints = tiny_config(tmp_path, tmp_path), CheckpointFolder(tmp_path / "saved")
    weights = WeightStore(tmp_path / "weights")
    with TrajectoryStore(tmp_path / "store") as store:
        state = TrainingState(SmallCircle().learner, ArrivalQueue())
        store.append(trajectory("c/1"))
        resume(config, state, checkpoints, store, weights)
        state.arrivals.popleft()
        checkpoints.save(state)
        store.append(trajectory("c/2"))
        again = TrainingState(SmallCircle().learner, ArrivalQueue())
        resume(config, again, checkpoints, store, weights)
    assert len(again.arrivals) == 1
    assert again.arrivals.popleft().id == "c/2"


@pytest.mark.parametrize(("published", "then"), [(7, 8), (0, 0), (None, 0)])
def test_the_weights_of_the_checkpoint_get_a_version_of_their_own(
    tmp_path: Path, published: int | None, then: int
) -> None:
    circle, weights = SmallCircle(), WeightStore(tmp_path / "weights")
    if published is not None:
        weights.publish(circle.policy.weights(), published)
    state = TrainingState(circle.learner, ArrivalQueue())
    with TrajectoryStore(tmp_path / "store") as store:
        checkpoints = CheckpointFolder(tmp_path / "saved")
        resume(tiny_config(tmp_path, tmp_path), state, checkpoints, store, weights)
    assert circle.learner.version == then
    assert (weights.latest_version() or 0) == then


def test_published_weights_that_are_damaged_are_published_anew(tmp_path: Path) -> None:
    config, state = (
        tiny_config(tmp_path, tmp_path),
        TrainingState(SmallCircle().learner, ArrivalQueue()),
    )
    weights = WeightStore(tmp_path / "weights")
    weights.publish(state.learner.policy.weights(), 0)
    [file] = weights.directory.glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-1])
    with TrajectoryStore(tmp_path / "store") as store:
        resume(config, state, CheckpointFolder(tmp_path / "checkpoints"), store, weights)
    assert state.learner.version == 1
    assert WeightStore(weights.directory).load().version == 1


def test_the_episode_log_is_completed_from_the_store(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    with TrajectoryStore(run.trajectories) as store:
        for name in ("c/1", "c/2", "c/3"):
            store.append(trajectory(name))
        with LineLog.open(run.episodes) as lines:
            log = EpisodeLog(lines, lambda: 5.0)
            log.arrived(trajectory("c/1"))
            log.close()
        with LineLog.open(run.episodes) as lines:
            log = EpisodeLog(lines, lambda: 9.0)
            recall(log, run, store, TrajectoryReceiver(store, ArrivalQueue(), log))
            assert log.trajectories == 3
    assert [line.id for line in read_lines(run.episodes, EpisodeLine)] == ["c/1", "c/2", "c/3"]


def test_a_corpus_is_a_store_or_a_run_and_never_empty(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such directory"):
        list(corpus(str(tmp_path / "nowhere")))
    with TrajectoryStore(tmp_path / "run" / "trajectories") as store:
        with pytest.raises(UsageError, match="holds no trajectory; collect some"):
            list(corpus(str(tmp_path / "run")))
        store.append(trajectory("c/1"))
    for path in (tmp_path / "run", tmp_path / "run" / "trajectories"):
        assert [each.id for each in corpus(str(path))] == ["c/1"]


def test_what_cannot_be_read_of_a_corpus_is_said(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("c/1"))
        store.append(trajectory("c/2"))
        store._database.execute("UPDATE bodies SET checksum = checksum + 1 WHERE seq = 2")
    said: list[str] = []
    assert [each.id for each in corpus(str(tmp_path), said.append)] == ["c/1"]
    assert len(said) == 1
    assert "left out, trajectory number 2: its checksum does not match" in said[0]


def test_a_corpus_that_has_less_than_its_run_noted_says_so(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "trajectories") as store:
        store.append(trajectory("c/1"))
        store.correct("c/1", Correction(Ending.FAILURE, Verdict(False, "no", "facts")))
    said: list[str] = []
    note_progress(RunDirectory(tmp_path), None, 2)
    assert [each.id for each in corpus(str(tmp_path), said.append)] == ["c/1"]
    assert said == []
    note_progress(RunDirectory(tmp_path), None, 3)  # a correction whose log was damaged
    list(corpus(str(tmp_path), said.append))
    assert said == [f"learning.corpus='{tmp_path}' ends at position 2, and was at 3"]


def test_a_new_run_preloads_its_corpus(tmp_path: Path) -> None:
    circle = SmallCircle()
    made = SmallCircle().collect("corpus", 3)
    with TrajectoryStore(tmp_path / "store") as store:
        for each in made:
            store.append(each)
    config = tiny_config(tmp_path, tmp_path, f"learning.corpus={tmp_path / 'store'}")
    begin(config, TrainingState(circle.learner, ArrivalQueue()))
    assert circle.learner.learner_status().replay["trajectories"] == 3


def corpus_of(folder: Path, split: Split, *settings: str) -> None:
    """A run directory, as `distrl collect` leaves it."""
    run = RunDirectory(folder)
    folder.mkdir()
    run.write_config(load_config(None, list(settings)))
    with TrajectoryStore(run.trajectories) as store:
        for each in SmallCircle().collect("corpus", 2):
            store.append(replace(each, task=replace(each.task, split=split)))


def preload(config: TrainingConfig) -> float:
    circle = SmallCircle()
    begin(config, TrainingState(circle.learner, ArrivalQueue()))
    return float(circle.learner.learner_status().replay["trajectories"])


def test_a_corpus_that_another_model_played_is_refused_unless_it_is_wanted(tmp_path: Path) -> None:
    corpus_of(tmp_path / "run", "train", "agent.model=some/qwen")
    words = (f"learning.corpus={tmp_path / 'run'}", "evaluation.after=1")
    with pytest.raises(UsageError, match="played by the model some/qwen, and this run trains"):
        preload(tiny_config(tmp_path, tmp_path, *words))
    assert preload(tiny_config(tmp_path, Path("other/place/qwen"), *words)) == 2
    assert preload(tiny_config(tmp_path, tmp_path, *words, "learning.any_corpus=true")) == 2


def test_a_corpus_is_known_by_its_trajectories_too(tmp_path: Path) -> None:
    corpus_of(tmp_path / "run", "train", "agent.model=some/qwen")
    words = (f"learning.corpus={tmp_path / 'run' / 'trajectories'}", "evaluation.after=1")
    with pytest.raises(UsageError, match="played by the model some/qwen, and this run trains"):
        preload(tiny_config(tmp_path, tmp_path, *words))
    (tmp_path / "run" / "trajectories").rename(tmp_path / "store")
    circle, said = SmallCircle(), list[str]()
    config = tiny_config(tmp_path, tmp_path, f"learning.corpus={tmp_path / 'store'}")
    begin(config, TrainingState(circle.learner, ArrivalQueue()), said.append)
    assert "does not say which model has played it" in said[0]


def test_a_corpus_of_another_run_s_policy_or_whose_settings_are_damaged_is_refused(
    tmp_path: Path,
) -> None:
    corpus_of(tmp_path / "run", "train", "agent.model=runs/one/policy")
    words = (f"learning.corpus={tmp_path / 'run'}", "evaluation.after=1")
    with pytest.raises(UsageError, match="played by the model runs/one/policy"):
        preload(tiny_config(tmp_path, Path("runs/other/policy"), *words))
    assert preload(tiny_config(tmp_path, Path("moved/one/policy"), *words)) == 2
    RunDirectory(tmp_path / "run").config.write_bytes(b"")  # the defaults would be the starter
    with pytest.raises(UsageError, match=r"config.toml is not as it was written"):
        preload(tiny_config(tmp_path, Path("starter"), *words))


def test_a_corpus_in_another_dialect_is_refused_unless_it_is_wanted(tmp_path: Path) -> None:
    corpus_of(tmp_path / "run", "train", "agent.dialect=android_world")
    words = (f"learning.corpus={tmp_path / 'run'}", "evaluation.after=1")
    with pytest.raises(UsageError, match="in the dialect android_world, and this run trains in"):
        preload(tiny_config(tmp_path, Path("starter"), *words))
    same = (*words, "agent.dialect=android_world")
    assert preload(tiny_config(tmp_path, Path("starter"), *same)) == 2
    assert preload(tiny_config(tmp_path, Path("starter"), *words, "learning.any_corpus=true")) == 2


def test_the_usual_dialect_is_the_same_whether_it_is_named_or_not(tmp_path: Path) -> None:
    corpus_of(tmp_path / "run", "train", f"agent.dialect={usual_dialect('starter')}")
    words = (f"learning.corpus={tmp_path / 'run'}", "evaluation.after=1")
    assert preload(tiny_config(tmp_path, Path("starter"), *words)) == 2


def test_a_corpus_does_not_take_the_place_of_what_this_run_plays(tmp_path: Path) -> None:
    """Collectors have the same names in every run, and draw the same tasks from the same seed."""
    corpus_of(tmp_path / "run", "train")
    circle, config = (
        SmallCircle(),
        tiny_config(tmp_path, Path("starter"), f"learning.corpus={tmp_path / 'run'}"),
    )
    begin(config, TrainingState(circle.learner, ArrivalQueue()))
    for each in SmallCircle().collect("corpus", 2):  # under the ids that the corpus has
        circle.learner.replay.insert(each)
    status = circle.learner.learner_status()
    assert status.replay["trajectories"] == 4


def test_what_a_corpus_has_no_more_is_named_when_a_run_is_resumed(tmp_path: Path) -> None:
    corpus_of(tmp_path / "run", "train")
    config = tiny_config(tmp_path, Path("starter"), f"learning.corpus={tmp_path / 'run'}")
    state = TrainingState(SmallCircle().learner, ArrivalQueue())
    begin(config, state)
    checkpoints, weights = CheckpointFolder(tmp_path / "saved"), WeightStore(tmp_path / "weights")
    checkpoints.save(state)
    parts = config, TrainingState(SmallCircle().learner, ArrivalQueue()), checkpoints
    with TrajectoryStore(tmp_path / "store") as store:
        assert resume(*parts, store, weights) == ()
        with TrajectoryStore(tmp_path / "run" / "trajectories") as fewer:
            first = fewer.ids[0]
            fewer._database.execute("DELETE FROM bodies WHERE seq = 1")
        assert resume(*parts, store, weights) == (f"corpus/{first}",)


@pytest.mark.parametrize("older", [False, True])
def test_a_lost_trajectory_is_not_replaced_by_one_of_the_corpus(
    tmp_path: Path, *, older: bool
) -> None:
    """Both may have the same id; only older checkpoints name those of the corpus like that."""
    corpus_of(tmp_path / "run", "train")
    config = tiny_config(tmp_path, Path("starter"), f"learning.corpus={tmp_path / 'run'}")
    circle = SmallCircle()
    if not older:
        begin(config, TrainingState(circle.learner, ArrivalQueue()))
    played = next(iter(corpus(str(tmp_path / "run"))))
    circle.learner.replay.insert(played)
    checkpoints, weights = CheckpointFolder(tmp_path / "saved"), WeightStore(tmp_path / "weights")
    checkpoints.save(TrainingState(circle.learner, ArrivalQueue()))
    state = TrainingState(SmallCircle().learner, ArrivalQueue())
    with TrajectoryStore(tmp_path / "store") as store:  # it has lost the one of that name
        assert resume(config, state, checkpoints, store, weights) == (() if older else (played.id,))


def test_a_corpus_of_tasks_that_are_evaluated_on_is_refused_unless_it_is_wanted(
    tmp_path: Path,
) -> None:
    corpus_of(tmp_path / "run", "test")
    words = (f"learning.corpus={tmp_path / 'run'}", "evaluation.after=1")
    with pytest.raises(
        UsageError, match="of the split 'test', on whose tasks this run is evaluated"
    ):
        preload(tiny_config(tmp_path, Path("starter"), *words))
    reworded = (*words, "evaluation.split=paraphrased")
    with pytest.raises(UsageError, match="on whose tasks this run is evaluated"):
        preload(tiny_config(tmp_path, Path("starter"), *reworded))
    unmeasured = ("evaluation.before=0", "evaluation.after=0")
    assert preload(tiny_config(tmp_path, Path("starter"), *words, *unmeasured)) == 2
    during = (*words[:1], *unmeasured, "evaluation.every_minutes=1")
    with pytest.raises(UsageError, match="on whose tasks this run is evaluated"):
        preload(tiny_config(tmp_path, Path("starter"), *during))
    wanted = (*words, "learning.any_corpus=true")
    assert preload(tiny_config(tmp_path, Path("starter"), *wanted)) == 2


def trained() -> tuple[SmallCircle, TrainingState]:
    circle = SmallCircle()
    circle.rounds(0, 8)
    state = TrainingState(circle.learner, ArrivalQueue())
    state.seconds, state.collectors = 12.5, {0: '{"next": 3}', 4: "{}"}
    return circle, state


def test_what_was_saved_is_restored() -> None:
    circle, state = trained()
    assert state.updates > 0
    fresh = TrainingState(SmallCircle().learner, ArrivalQueue())
    lost = fresh.load_state(state.state_dict(), circle.kept.get)
    assert lost == ()
    assert (fresh.updates, fresh.seconds) == (state.updates, 12.5)
    assert fresh.collectors == {0: '{"next": 3}', 4: "{}"}
    assert fresh.arrivals.taken == state.arrivals.taken


def test_trajectories_that_are_gone_are_named() -> None:
    _, state = trained()
    fresh = TrainingState(SmallCircle().learner, ArrivalQueue())
    assert fresh.load_state(state.state_dict(), lambda name: None)


@pytest.mark.parametrize("missing", ["learner", "engine"])
def test_a_state_of_something_else_is_refused(missing: str) -> None:
    circle, state = trained()
    saved = state.state_dict()
    del saved[missing]
    with pytest.raises(CorruptCheckpoint, match="no checkpoint of a training run"):
        state.load_state(saved, circle.kept.get)


def test_a_damaged_state_of_the_engine_is_refused() -> None:
    circle, state = trained()
    saved = state.state_dict()
    saved["engine"]["collectors"] = "not JSON"
    with pytest.raises(CorruptCheckpoint, match="another version of DistRL"):
        state.load_state(saved, circle.kept.get)
