"""Samples lead to success, slips and all, and say rightly where else a tap could go."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from distrl import records as r
from distrl.hierarchy import Element
from phonesim.apps.notes import Note
from phonesim.phone import Phone
from phonesim.scene import Touch
from phonesim.simulated_device import SimulatedDevice
from phonesim.state import PhoneState
from phonesim.tasks.demonstrations import CELL, Demonstrator, Sample, same_cells
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task, template_names

EVERY = 9  # of the templates
CLUMSY = 0.5


@cache
def demonstrated() -> list[tuple[r.Task, list[Sample]]]:
    """Episodes of a very clumsy demonstrator; where a slip spoilt one, it has no samples."""
    demonstrator = Demonstrator(SimulatedDevice("taught"), "test", slip_rate=CLUMSY)
    tasks = [load_task(f"{name}/train/4")[0] for name in template_names("train")[::EVERY]]
    return [(task, demonstrator.demonstrate(task)) for task in tasks]


def test_nearly_every_task_is_demonstrated() -> None:
    assert len(demonstrated()) > 20
    assert sum(bool(samples) for _, samples in demonstrated()) / len(demonstrated()) > 0.9


def replayed(task: r.Task, actions: Sequence[r.Action]) -> tuple[SimulatedDevice, FactJudge]:
    """A phone on which this was done."""
    device = SimulatedDevice("again")
    judge = FactJudge(device)
    device.reset(task.seed)
    judge.begin(task)
    for action in actions:
        device.perform(action)
    return device, judge


def test_every_episode_ends_in_success_when_it_is_played_again() -> None:
    for task, samples in demonstrated():
        for last in samples[-1:]:
            device, judge = replayed(task, last.observation.past_actions)
            assert np.array_equal(device.screen().pixels, last.observation.screen.pixels)
            answer = last.action.text if isinstance(last.action, r.Answer) else None
            assert judge.verdict(answer).success, task.id


def test_a_sample_shows_the_screen_and_the_past_that_belong_to_it() -> None:
    """The past of each begins with that of the one before, its action, and perhaps a slip."""
    task, samples = next((task, some) for task, some in demonstrated() if slips_in(some))
    for sample in samples:
        device, _ = replayed(task, sample.observation.past_actions)
        assert np.array_equal(device.screen().pixels, sample.observation.screen.pixels)
        assert sample.observation.instruction == task.instruction
    for before, after in pairwise(samples):
        known = (*before.observation.past_actions, before.action)
        assert after.observation.past_actions[: len(known)] == known


def slips_in(samples: list[Sample]) -> int:
    """Actions that are in no sample."""
    return len(samples[-1].observation.past_actions) - (len(samples) - 1) if samples else 0


def test_fingers_slip_and_back_mends_it() -> None:
    """Where a slipping tap has changed the page, the sample's action is Back, and Back is right."""
    mended = harmless = 0
    for task, samples in demonstrated():
        assert slips_in(samples) <= 2
        known = 0
        for sample in samples:
            past = sample.observation.past_actions
            if len(past) > known:  # a slip came in between
                device, _ = replayed(task, past[:-1])
                before, page = facts(device.snapshot()), page_of(device.phone)
                device.perform(past[-1])
                assert facts(device.snapshot()) == before
                if page_of(device.phone) == page or isinstance(past[-1], r.Swipe):
                    harmless += 1
                else:
                    assert sample.action == r.Back()
                    device.perform(r.Back())
                    assert page_of(device.phone) == page
                    assert facts(device.snapshot()) == before
                    mended += 1
            known = len(past) + 1
    assert mended >= 5
    assert harmless >= 5


def page_of(phone: Phone) -> list[Element]:
    return [element for element in phone.elements() if element.window != "system"]


def facts(state: PhoneState) -> dict[type[Any], tuple[Any, ...]]:
    return dict(state.facts.tables())


def test_without_slips_it_is_the_solution() -> None:
    task, _ = load_task("notes.create/train/3")
    samples = Demonstrator(SimulatedDevice("calm"), 1, slip_rate=0.0).demonstrate(task)
    actions = tuple(sample.action for sample in samples)
    assert isinstance(actions[-1], r.Done)
    assert samples[-1].observation.past_actions == actions[:-1]


def test_a_walk_is_about_what_stands_there_and_ends() -> None:
    """Played again from its first screen, the recorded actions do the same."""
    task, _ = load_task("settings.turn_on/train/3")
    device = SimulatedDevice("grounded")
    demonstrator = Demonstrator(device, "walks", slip_rate=0.0)
    walks = [samples for _ in range(12) if (samples := demonstrator.ground(task))]
    assert len(walks) >= 8
    for samples in walks:
        actions = tuple(sample.action for sample in samples)
        assert isinstance(actions[-1], r.FINAL_ACTIONS)
        assert not any(isinstance(action, r.FINAL_ACTIONS) for action in actions[:-1])
        assert samples[-1].observation.past_actions == actions[:-1]
        assert len({sample.observation.instruction for sample in samples}) == 1


def test_tasks_about_made_up_texts_are_solved_like_others() -> None:
    task, _ = load_task("notes.create/train/3")
    demonstrator = Demonstrator(SimulatedDevice("calm"), 1, slip_rate=0.0, fresh_words=1.0)
    samples = demonstrator.demonstrate(task)
    typed = [sample.action.text for sample in samples if isinstance(sample.action, r.TypeText)]
    instruction = samples[0].observation.instruction
    assert instruction != task.instruction
    assert len(typed) == 2
    assert all(text in instruction and text not in task.instruction for text in typed)


class HauntedDevice(SimulatedDevice):
    """Where somebody else deletes notes while one is written."""

    def perform(self, action: r.Action) -> r.Screen:
        if isinstance(action, r.TypeText):
            self.phone.facts.remove_where(Note, lambda note: True)
            self.phone.refresh()
        return super().perform(action)


def test_an_episode_that_fails_after_all_gives_no_samples() -> None:
    task, _ = load_task("notes.create/train/3")
    assert Demonstrator(SimulatedDevice("calm"), 1, slip_rate=0.0).demonstrate(task)
    assert Demonstrator(HauntedDevice("haunted"), 1, slip_rate=0.0).demonstrate(task) == []


def test_the_same_seed_gives_the_same_samples() -> None:
    def actions(seed: int) -> list[object]:
        demonstrator = Demonstrator(SimulatedDevice("any"), seed, CLUMSY)
        tasks = [load_task(f"{name}/train/1")[0] for name in ("notes.create", "todo.star")]
        return [(sample.action, sample.observation.past_actions)
                for task in tasks for sample in demonstrator.demonstrate(task)]  # fmt: skip

    assert actions(1) == actions(1) != actions(2)


# Where a finger could go -------------------------------------------------------------------------

Outcome = tuple[PhoneState, dict[type[Any], tuple[Any, ...]], tuple[Element, ...]]


def outcome(phone: Phone, before: PhoneState, action: r.Tap | r.LongPress) -> Outcome:
    """All that an action leads to."""
    phone.restore(before)
    phone.perform(action)
    after = phone.snapshot()
    return dataclasses.replace(after, facts=before.facts), facts(after), phone.elements()


def middle(kind: type[r.Tap] | type[r.LongPress], row: int, column: int) -> r.Tap | r.LongPress:
    return kind((column + 0.5) / 36, (row + 0.5) / 72)


def test_cells_are_where_the_phone_does_the_same() -> None:
    """Some cells of each sample are tapped, each on the same snapshot; some others, too."""
    rng = random.Random("cells")
    tried = others = chances = 0
    for task, samples in demonstrated():
        for sample in samples[::2]:
            if not isinstance(sample.action, r.Tap | r.LongPress):
                continue
            phone = replayed(task, sample.observation.past_actions)[0].phone
            before = phone.snapshot()
            wanted = outcome(phone, before, sample.action)
            inside = np.argwhere(sample.cells).tolist()
            for row, column in rng.sample(inside, min(5, len(inside))):
                found = outcome(phone, before, middle(type(sample.action), row, column))
                assert found == wanted, (task.id, sample.action, row, column)
                tried += 1
            for row, column in rng.sample(np.argwhere(~sample.cells).tolist(), 4):
                found = outcome(phone, before, middle(type(sample.action), row, column))
                others += found == wanted
                chances += 1
    assert tried > 100
    assert others / chances < 0.03  # another button may do the same, such as Cancel and Back


def test_every_cell_of_a_few_screens_is_right() -> None:
    """All 2,592 of them, by whether the finger meets the same thing."""
    for seed, app in ((3, "Clock"), (5, "Settings"), (8, "Calculator")):
        phone = Phone(seed)
        phone.launch(app)
        touches = phone.scene.touches
        number = len(touches) // 2
        target = next(
            touch for touch in (*touches[number:], *touches) if touch.on_tap and not touch.on_tap_at
        )
        left, top, right, bottom = target.bounds
        action = r.Tap((left + right) / 2 / 360, (top + bottom) / 2 / 720)
        cells = same_cells(action, touches)
        wanted = met(phone, action)
        for row in range(72):
            for column in range(36):
                same = met(phone, r.Tap((column + 0.5) / 36, (row + 0.5) / 72)) is wanted
                assert cells[row, column] == same, (app, row, column)


def met(phone: Phone, action: r.Tap) -> Touch | None:
    """What the phone itself says lies under a finger."""
    x, y = min(int(action.x * 360), 359), min(int(action.y * 720), 719)
    return next((t for t in phone.scene.touch_at(x, y) if t.on_tap or t.on_tap_at), None)


def nothing() -> None:
    """Happens."""


def test_edges_of_a_button_are_exact_to_the_pixel() -> None:
    for top in range(80, 100):
        for bottom in range(top + 20, top + 40):
            cells = same_cells(
                r.Tap(0.5, (top + bottom) / 2 / 720),
                [Touch((0, 0, 360, 720), nothing), Touch((101, top, 260, bottom), nothing)],
            )
            rows = [row for row in range(72) if top <= int((row + 0.5) / 72 * 720) < bottom]
            assert set(np.argwhere(cells)[:, 0].tolist()) == set(rows)
            assert set(np.argwhere(cells)[:, 1].tolist()) == set(range(10, 26))


def test_the_place_on_a_slider_is_what_matters() -> None:
    slider = Touch((0, 100, 360, 140), on_tap_at=lambda x: None)
    cells = same_cells(r.Tap(0.52, 0.17), [slider])
    assert np.argwhere(cells).tolist() == [[int(0.17 * 72), int(0.52 * 36)]]


def test_holding_meets_what_only_holding_moves() -> None:
    held = Touch((0, 0, 360, 360), on_hold=nothing)
    below = Touch((0, 0, 360, 720), on_tap=nothing)
    assert same_cells(r.LongPress(0.5, 0.1), [below, held]).sum() == 36 * 36
    assert same_cells(r.Tap(0.5, 0.1), [below, held]).sum() == 36 * 72


@pytest.mark.parametrize("action", [r.Back(), r.Home(), r.Done(), r.Swipe(0.5, 0.5, 0.5, 0.1)])
def test_other_actions_have_no_cells(action: r.Back | r.Home | r.Done | r.Swipe) -> None:
    assert not same_cells(action, [Touch((0, 0, 360, 720), nothing)]).any()


def test_fingers_do_not_always_hit_the_middle() -> None:
    taps = [
        sample
        for _, samples in demonstrated()
        for sample in samples
        if isinstance(sample.action, r.Tap) and sample.cells.sum() > 20
    ]
    ranks = []
    for sample in taps:
        assert isinstance(sample.action, r.Tap)
        row, column = int(sample.action.y * 720) // CELL, int(sample.action.x * 360) // CELL
        assert sample.cells[row, column]
        columns = np.unique(np.argwhere(sample.cells)[:, 1])
        ranks.append(np.searchsorted(columns, column) / len(columns))
    assert len(ranks) > 30
    assert np.std(ranks) > 0.2  # evenly spread: 0.29
