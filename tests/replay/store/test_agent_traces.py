"""Traces keep to the two published formats, and have all that a trajectory has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.episodes.demonstrations import demonstrate
from distrl.records import Decision, Done, Tap, Trajectory, TypeText, Unreadable
from distrl.replay.store.agent_traces import (
    TracedAgent,
    atif,
    export_atif,
    export_sessions,
    session,
    tool_name,
)
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task

AGENT = TracedAgent("starter", "0.1.0")
STEP_FIELDS = {"step_id", "source", "message", "tool_calls", "observation", "metrics", "extra"}


@pytest.fixture(scope="module")
def played() -> Trajectory:
    return demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("x"))


def odd() -> Trajectory:
    decisions = (
        Decision(TypeText("ü \ud800"), "type", (7, 8), (-0.5, float("-inf")), 3),
        Decision(Unreadable("hm", "no action"), "hm"),
    )
    return replace(trajectory("a/b\ud83d", screens=(0, 1, 2)), decisions=decisions)


def test_every_step_of_an_atif_file_is_in_order_and_answers_its_call(played: Trajectory) -> None:
    for each in (played, odd()):
        found = json.loads(json.dumps(atif(each, AGENT), allow_nan=False))
        steps = found["steps"]
        assert [step["step_id"] for step in steps] == list(range(1, len(each.screens) + 1))
        assert [step["source"] for step in steps[:2]] == ["user", "agent"]
        assert steps[0]["message"][0]["text"] == each.task.instruction
        for step, decision in zip(steps[1:], each.decisions, strict=True):
            assert set(step) <= STEP_FIELDS
            calls = [call["tool_call_id"] for call in step.get("tool_calls", ())]
            [result] = step["observation"]["results"]
            assert [result[key] for key in result if key == "source_call_id"] == calls
            assert bool(calls) != isinstance(decision.action, Unreadable)
    assert found["steps"][1]["metrics"]["completion_token_ids"] == [7, 8]
    assert found["steps"][1]["metrics"]["logprobs"] == [-0.5, -1e9]
    assert found["extra"]["ending"] == odd().ending.value


def test_a_session_is_a_header_and_messages(played: Trajectory) -> None:
    header, task, *rest = session(played, AGENT)
    assert (header["type"], header["harness"], header["id"]) == ("session", "distrl", played.id)
    assert task["message"]["role"] == "user"
    answers = [each["message"] for each in rest if each["message"]["role"] == "assistant"]
    results = [each["message"] for each in rest if each["message"]["role"] == "tool"]
    assert len(answers) == len(results) == len(played.decisions)
    for answer, result, decision in zip(answers, results, played.decisions, strict=True):
        [call] = answer["toolCalls"]
        assert call["id"] == result["toolCallId"]
        assert call["function"]["name"] == tool_name(decision.action)
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert rest[-1]["message"]["content"].startswith("success")


def test_files_have_their_pictures_beside_them_each_once(
    tmp_path: Path, played: Trajectory
) -> None:
    both = [played, odd(), replace(played, id="again")]
    assert export_atif(both, tmp_path / "atif", AGENT) == 3
    assert export_sessions(both, tmp_path / "sessions", AGENT) == 3
    pictures = {screen.digest for each in both for screen in each.screens}
    for folder in ("atif", "sessions"):
        assert {path.stem for path in (tmp_path / folder / "images").iterdir()} == pictures
    for path in (tmp_path / "atif").glob("*.json"):
        for step in json.loads(path.read_text())["steps"]:
            results = step.get("observation", {"results": []})["results"]
            for part in [part for result in results for part in result["content"]]:
                assert (path.parent / part["source"]["path"]).is_file()
    for path in (tmp_path / "sessions").glob("*.jsonl"):
        assert len([json.loads(line) for line in path.read_text().splitlines()]) > 3


def test_actions_are_tools_by_their_names() -> None:
    assert tool_name(TypeText("a")) == "type_text"
    assert (tool_name(Tap(0.0, 0.0)), tool_name(Done())) == ("tap", "done")
    assert tool_name(Unreadable("x", "y")) is None
