"""What the page shows is what the run wrote, also while it is written, and nothing else."""

from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.view.made_up_run import HOSTILE, hostile, line_of, write_run

import distrl
from distrl.engine.supervision.collector_notes import CollectorNotebook
from distrl.errors import NotInstalled, UsageError
from distrl.json_lines import LineLog
from distrl.judging.judge_prompt import JudgePrompt
from distrl.judging.vlm_judge import JudgeCache
from distrl.records import Branch, Ending, Trajectory, Verdict
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.reporting.recording import can_write_mp4
from distrl.reporting.run_story import read_story
from distrl.runs.run_records import CollectorNote
from distrl.view.curves import OTHER, template_families
from distrl.view.resources import Resources
from distrl.view.run_catalogue import FRESH_SECONDS, RunCatalogue, run_state
from distrl.view.run_summary import settings_of


def read(resources: Resources, path: str) -> Any:
    return msgspec.json.decode(resources.get(path).content)


def test_all_episodes_are_listed_with_what_the_store_knows(resources: Resources) -> None:
    episodes, details = (
        read(resources, "small/episodes.json"),
        read(resources, "small/details.json"),
    )
    assert episodes["seq"] == details["seq"] == [1, 2, 3, 4]
    assert episodes["template"][:2] == ["notes.create", "clock.set_alarm"]
    assert episodes["ending"] == ["success", "success", "success", "failure"]
    assert details["instruction"][3] == details["reason"][3] == HOSTILE
    assert details["unreadable"] == [0, 0, 0, 1]
    assert details["surprise"][0] == pytest.approx(0.69, abs=0.01)  # −log ½


@pytest.mark.parametrize("settings", ["a = " + "[" * 100_000, "a" + ".a" * 5_000 + " = 1"])
def test_settings_that_cannot_be_read_are_no_settings(tmp_path: Path, settings: str) -> None:
    run = write_run(tmp_path)
    run.config.write_text(settings)
    assert settings_of(run) == {}
    assert read_story(run).losses[0].name == "config.toml"


def test_a_list_grows_with_its_run_and_follows_corrections(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    resources = Resources(RunCatalogue.at(run.path))
    assert len(read(resources, "small/details.json")["seq"]) == 4
    new = dataclasses.replace(hostile(), id="collector-0.2/1/notes.create/train/8")
    with TrajectoryStore(run.trajectories) as store, LineLog.open(run.episodes) as lines:
        store.append(new)
        lines.append(line_of(new, 5))
        store.correct(new.id, Correction(Ending.SUCCESS, Verdict(True, "done after all", "vlm")))
    details = read(resources, "small/details.json")
    assert len(read(resources, "small/episodes.json")["seq"]) == len(details["seq"]) == 5
    assert (details["ending"][4], details["judge"][4]) == ("success", "vlm")


def test_half_a_letter_in_an_answer_or_an_instruction_costs_no_page(tmp_path: Path) -> None:
    run, whole = write_run(tmp_path), hostile()
    decisions = [dataclasses.replace(each, text="\ud800!") for each in whole.decisions]
    task = dataclasses.replace(whole.task, instruction="Write \ud800")
    halves = dataclasses.replace(
        whole, id="collector-0.2/1/notes.create/train/8", decisions=tuple(decisions), task=task
    )
    with TrajectoryStore(run.trajectories) as store, LineLog.open(run.episodes) as lines:
        store.append(halves)
        lines.append(line_of(halves, 5))
    resources = Resources(RunCatalogue.at(run.path))
    assert read(resources, "small/details.json")["instruction"][4] == "Write ?"
    assert "?!" in str(read(resources, "small/episode/5.json")["steps"][0])


def test_an_xray_has_every_step_and_what_the_learner_thought(resources: Resources) -> None:
    drawn, never = (read(resources, f"small/episode/{seq}.json") for seq in (1, 2))
    assert drawn["drawn"] == {"updates": 9, "times": 4, "priority": 1.5}
    assert {step["value"] for step in drawn["steps"]} == {0.25}
    assert [p for _, p in drawn["steps"][0]["tokens"]] == [0.5, 1.0]
    assert drawn["screens"] == len(drawn["steps"]) + 1
    assert never["drawn"] is None
    assert {step["value"] for step in never["steps"]} == {None}


def test_a_page_begins_with_the_newest_episodes(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    resources = Resources(RunCatalogue.at(run.path))
    with TrajectoryStore(run.trajectories) as store:
        store.correct(hostile().id, Correction(Ending.SUCCESS, Verdict(True, "after all", "vlm")))
    found = resources.run("small").index.newest(2)
    assert found["total"] == 4
    assert found["episodes"]["seq"] == found["details"]["seq"] == [3, 4]
    assert found["details"]["ending"] == ["success", "success"]  # as corrected since
    whole, first = read(resources, "small/newest.json"), read(resources, "small/episodes.json")
    assert whole["episodes"] == first
    assert read(resources, "names.json")["runs"] == [
        {"name": "small", "state": "stopped", "kept_evaluation": False}
    ]


def test_continuations_are_shown_with_what_they_left(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    with TrajectoryStore(run.trajectories) as store:
        first = next(iter(TrajectoryReader(run.trajectories).read())).trajectory
        for number in (1, 2):
            name = f"{first.id}/fork/{number}"
            store.append(dataclasses.replace(first, id=name, branch=Branch(first.id, number)))
    resources = Resources(RunCatalogue.at(run.path))
    for seq in (1, 5, 6):
        found = read(resources, f"small/episode/{seq}.json")["family"]
        assert [(each["seq"], each["root"], each["step"]) for each in found] == [
            (1, True, 0), (5, False, 1), (6, False, 2)
        ]  # fmt: skip
    assert read(resources, "small/episode/2.json")["family"] == []


def test_what_a_vision_language_judge_was_asked_and_replied_is_shown(tmp_path: Path) -> None:
    run, prompt = write_run(tmp_path), JudgePrompt()
    judge = f"vlm/some-model/{prompt.hash}"
    asked = dataclasses.replace(hostile(), id="c/1/notes.create/train/8")
    asked = dataclasses.replace(asked, verdict=Verdict(False, "no note", judge))
    other = dataclasses.replace(asked, id="c/2/notes.create/train/8")
    other = dataclasses.replace(other, verdict=Verdict(False, "no note", "vlm/some-model/0123"))
    with TrajectoryStore(run.trajectories) as store, JudgeCache(run.judge_cache) as cache:
        store.append_all([asked, other])
        key = prompt.key_of(prompt.case_of(asked))
        cache.add(key, Verdict(False, "no note", judge), f"It should be there. {HOSTILE}")
    resources = Resources(RunCatalogue.at(run.path))
    question = read(resources, "small/episode/5.json")["question"]
    assert question["reply"] == f"It should be there. {HOSTILE}"
    assert question["messages"][0]["text"] == prompt.system
    assert "[a screen]\nTask: " in question["messages"][-1]["text"]
    unknown = read(resources, "small/episode/6.json")["question"]
    assert unknown == {"messages": None, "reply": None}  # another prompt asked
    assert read(resources, "small/episode/1.json")["question"] is None


def test_a_kind_of_device_shows_its_steps_in_its_own_way(
    resources: Resources,
) -> None:
    assert read(resources, "small/episode/1.json")["steps"][0]["shown"] == {}

    def show(trajectory: Trajectory, step: int) -> dict[str, str]:
        return {"seen": f"{trajectory.task.apps[step]} {HOSTILE}"}

    distrl.register_step_view("simulated", show)
    first, second, *_ = read(resources, "small/episode/1.json")["steps"]
    assert first["shown"] == {"seen": f"Notes {HOSTILE}"}
    assert "its plug-in failed: IndexError" in second["shown"]["step view"]


def test_screens_and_recordings_are_pictures(resources: Resources) -> None:
    assert resources.get("small/screen/1-0.jpg").content.startswith(b"\xff\xd8")
    assert resources.get("small/episode/4.gif").content.startswith(b"GIF89a")


def test_an_episode_is_a_video_where_there_is_an_encoder(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    if can_write_mp4():
        assert resources.get("small/episode/4.mp4").content[4:8] == b"ftyp"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NotInstalled, match=r"distrl\[video\]"):
        resources.get("small/episode/4.mp4")


@pytest.mark.parametrize(
    "path",
    [
        "nothing/summary.json", "../small/summary.json", "small/screen/1-99.jpg", "small/secret",
        "small/episode/77.json", "small/screen/../../config.toml", "small/versus/nothing.json", "",
        "small/config.toml",
    ],
)  # fmt: skip
def test_nothing_else_can_be_reached(resources: Resources, path: str) -> None:
    with pytest.raises(LookupError):
        resources.get(path)


def test_shares_of_time_add_up_to_one(resources: Resources) -> None:
    found = read(resources, "small/curves.json")["phone_time"]
    assert found["stages"] == ["playing", "deciding"]
    assert [sum(column) for column in zip(*found["shares"], strict=True)] == [1.0] * 5
    assert found["shares"][0][0] == 0.25


def test_success_is_counted_by_family_as_by_task(resources: Resources) -> None:
    found = read(resources, "small/curves.json")
    rows = {each["family"]: each for each in found["families"]}
    assert set(rows) == {"general", "shopping"}
    assert (rows["general"]["training"]["episodes"], rows["shopping"]["training"]["rate"]) == (3, 1)
    assert rows["general"]["after"]["episodes"] == 2
    assert "after" not in rows["shopping"]
    assert [each["template"] for each in found["templates"]] == [
        "clock.set_alarm", "notes.create", "shopping.search"
    ]  # fmt: skip
    assert template_families()("miniwob.click-test") == OTHER


def test_runs_differ_in_their_seed_and_are_compared_task_by_task(resources: Resources) -> None:
    overview = read(resources, "runs.json")
    assert {run["name"] for run in overview["runs"]} == {"small", "other"}
    assert overview["settings"] == {"run.seed": {"small": 0, "other": 1}}
    found = read(resources, "small/versus/other.json")
    assert (found["tasks"], found["difference"], found["significant"]) == (2, 0.5, False)
    assert "no gain that counts" in found["words"]


def test_a_run_that_nobody_trains_is_said_to_be_stopped(resources: Resources) -> None:
    assert read(resources, "small/summary.json")["state"] == "stopped"
    with resources.run("small").run.held():
        assert read(resources, "small/summary.json")["state"] == "running"


def test_a_run_on_another_machine_is_known_by_its_metrics(tmp_path: Path) -> None:
    """A view elsewhere on a shared disk sees none of the learner's locks; a Mac sees no locks."""
    run = write_run(tmp_path)
    with run.held():
        now = time.time()
        assert run_state(run, now) == "running"
        lock = run.path / "writer.lock"
        pid, _, _ = lock.read_text("ascii").partition("\n")
        lock.write_text(f"{pid}\nanother-machine\n", "ascii")
        assert run_state(run, now + FRESH_SECONDS - 1.0) == "running"  # it has just begun
        os.utime(lock, (now - FRESH_SECONDS, now - FRESH_SECONDS))
        os.utime(run.metrics, (now - 30.0, now - 30.0))
        assert run_state(run, now) == "running"
        assert run_state(run, now + 31.0) == "stopped"  # it may be killed


def test_a_run_that_trains_is_read_again_after_a_while_and_at_once_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path)
    resources = Resources(RunCatalogue.at(tmp_path))

    def episodes() -> int:
        return int(read(resources, "small/summary.json")["trajectories"])

    def another(number: int) -> None:
        with LineLog.open(run.episodes) as lines:
            lines.append(line_of(hostile(), number))

    with run.held():
        assert episodes() == 4
        another(5)
        assert episodes() == 4
        monkeypatch.setattr("distrl.view.resources.STORY_SECONDS", 0.0)
        assert episodes() == 5
        monkeypatch.setattr("distrl.view.resources.STORY_SECONDS", 1e9)
        another(6)
        assert episodes() == 5
    assert episodes() == 6


def test_health_counts_phones_and_room(resources: Resources) -> None:
    found = read(resources, "small/health.json")
    assert [each["name"] for each in found["devices"]] == [f"phone-{n}" for n in range(4)]
    assert found["disk_free"] > 0 < found["run_bytes"]


def test_health_knows_collectors_of_other_nodes_and_quarantined_phones_by_name(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path)
    resources = Resources(RunCatalogue.at(tmp_path))
    first = read(resources, "small/health.json")["collectors"]
    assert [(each["name"], each["episodes"], each["restarts"]) for each in first] == [
        ("collector-0", 4, 0)  # by the ids of their episodes: there are no logs here
    ]
    away = {"phone-2": "DeviceLost: unplugged"}
    CollectorNotebook(run.collectors).write(
        [CollectorNote("collector-1.1", "10.0.0.7", 3, 7, away)]
    )
    with run.held():
        found = read(resources, "small/health.json")
    told = [(each["name"], each["place"], each["in_flight"]) for each in found["collectors"]]
    assert told == [("collector-0", "", None), ("collector-1", "10.0.0.7", 3)]
    assert found["away"] == [
        {"name": "phone-2", "reason": "DeviceLost: unplugged", "collector": "collector-1.1"}
    ]
    assert ["1 of the collectors", "10.0.0.7"] in found["machines"]


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="make train"):
        RunCatalogue.at(tmp_path)
    with pytest.raises(UsageError, match="no directory"):
        RunCatalogue.at(tmp_path / "nothing")
