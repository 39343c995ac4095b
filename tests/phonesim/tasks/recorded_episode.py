"""Episodes that were recorded before the phone grew: their actions, pixels and verdicts.

A shipped model was trained on these templates, so a phone with its usual settings has to show it
the same pixels, and judges have to say the same. Each line of `recorded_episodes.jsonl` is one
template's scripted solution, and half of it followed by random actions; both are replayed action by
action, without the solver. What `done` has is one sign for each action.

    python -m tests.phonesim.tasks.recorded_episode    # record what has no line yet

A line is never recorded anew: where a test is red, the phone is wrong and not the line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from distrl import records as r
from distrl.agent.simple_policies import MonkeyPolicy
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.solver import Solver
from phonesim.tasks.task_sets import load_task, splits_of, templates

FILE = Path(__file__).with_name("recorded_episodes.jsonl")
WANDERED = 8  # random actions
DIGITS = 4  # of a coordinate: a tenth of a pixel
KINDS = {kind.__name__: kind for kind in get_args(r.Action)}


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of some actions: a digest of every screen, and whether the task was done."""

    pixels: str
    done: str  # 0 or 1 after each action


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """A task, what was done, and what came of it."""

    task: str
    instruction: str
    solution: tuple[r.Action, ...]
    solved: Replayed
    detour: tuple[r.Action, ...]
    detoured: Replayed

    def line(self) -> str:
        tree = {
            "task": self.task,
            "instruction": self.instruction,
            "solution": [_written(action) for action in self.solution],
            "solved": [self.solved.pixels, self.solved.done],
            "detour": [_written(action) for action in self.detour],
            "detoured": [self.detoured.pixels, self.detoured.done],
        }
        return json.dumps(tree, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def of_line(cls, line: str) -> RecordedEpisode:
        tree = json.loads(line)
        return cls(
            tree["task"],
            tree["instruction"],
            tuple(map(_read, tree["solution"])),
            Replayed(*tree["solved"]),
            tuple(map(_read, tree["detour"])),
            Replayed(*tree["detoured"]),
        )


def recorded_episodes() -> dict[str, RecordedEpisode]:
    """All of them, by the template's name."""
    lines = FILE.read_text("utf-8").splitlines() if FILE.exists() else []
    episodes = map(RecordedEpisode.of_line, lines)
    return {episode.task.partition("/")[0]: episode for episode in episodes}


def replay(task_id: str, actions: Iterable[r.Action]) -> Replayed:
    """Carry out the actions on a phone that is set up for the task."""
    device, judge = _begun(task_id)
    seen, done = hashlib.blake2b(device.screen().pixels.tobytes(), digest_size=12), ""
    for action in actions:
        seen.update(device.perform(action).pixels.tobytes())
        answer = action.text if isinstance(action, r.Answer) else None
        done += "1" if judge.verdict(answer).success else "0"
    return Replayed(seen.hexdigest(), done)


def record(name: str) -> RecordedEpisode:
    """Play a template's own solution, and half of it with a detour."""
    task_id = f"{name}/{splits_of(templates()[name])[0]}/0"
    solution = _solution(task_id)
    monkey = MonkeyPolicy(len(solution))
    wandered = tuple(_rounded(monkey.act()) for _ in range(WANDERED))
    detour = (*solution[: len(solution) // 2], *wandered, r.Done())
    return RecordedEpisode(
        task_id,
        load_task(task_id)[0].instruction,
        solution,
        replay(task_id, solution),
        detour,
        replay(task_id, detour),
    )


def _begun(task_id: str) -> tuple[SimulatedDevice, FactJudge]:
    task, _ = load_task(task_id)
    device = SimulatedDevice("recorder")
    device.reset(task.seed)
    judge = FactJudge(device)
    judge.begin(task)
    return device, judge


def _solution(task_id: str) -> tuple[r.Action, ...]:
    device, judge = _begun(task_id)
    solver = Solver(judge.template.solve(judge.start), open_by_name=True)
    actions: list[r.Action] = []
    while not actions or not isinstance(actions[-1], r.FINAL_ACTIONS):
        actions.append(_rounded(solver.next(device.elements())))
        device.perform(actions[-1])
    return tuple(actions)


def _rounded(action: r.Action) -> r.Action:
    values = (getattr(action, each.name) for each in fields(action))
    short = (round(value, DIGITS) if isinstance(value, float) else value for value in values)
    return _read([type(action).__name__, *short])


def _written(action: r.Action) -> list[Any]:
    return [type(action).__name__, *(getattr(action, each.name) for each in fields(action))]


def _read(row: list[Any]) -> r.Action:
    name, *values = row
    action: r.Action = KINDS[name](*values)
    return action


def main() -> None:
    """Append a line for each template that has none."""
    known = recorded_episodes()
    with FILE.open("a", encoding="utf-8") as lines:
        for name in templates():
            if name not in known:
                lines.write(record(name).line() + "\n")


if __name__ == "__main__":
    main()
