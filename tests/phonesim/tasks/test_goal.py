"""Progress counts facts: none at the start, all at the end, and halves in between."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.slow_params import one_in

from distrl.records import FINAL_ACTIONS, Answer, OpenApp, Task
from phonesim.apps.notes import Note
from phonesim.contents.timepieces import Alarm
from phonesim.display import STANDARD, Display
from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.moves import Say
from phonesim.tasks.solver import Solver
from phonesim.tasks.task_sets import load_task, splits_of, templates


@dataclass
class Begun:
    """A task that is set up on a phone."""

    task: Task
    device: SimulatedDevice
    judge: FactJudge


def begun(task_id: str, display: Display = STANDARD) -> Begun:
    device = SimulatedDevice("goal", NO_DRIFT, display=display)
    task, _ = load_task(task_id)
    device.reset(task.seed)
    judge = FactJudge(device)
    judge.begin(task)
    return Begun(task, device, judge)


@pytest.mark.parametrize("name", one_in(8, templates()))
def test_progress_goes_from_nothing_to_all(name: str) -> None:
    it = begun(f"{name}/{splits_of(templates()[name])[0]}/3")
    first = it.judge.verdict(None)
    assert first.progress is not None
    assert first.progress < 1.0
    assert first.missing
    assert first.collateral == ()
    solver = Solver(it.judge.template.solve(it.judge.start), open_by_name=True)
    while not isinstance(action := solver.next(it.judge.phone.elements()), FINAL_ACTIONS):
        it.judge.phone.perform(action)
    last = it.judge.verdict(action.text if isinstance(action, Answer) else None)
    assert (last.success, last.progress, last.missing, last.collateral) == (True, 1.0, (), ())


@pytest.mark.parametrize("display", [Display(1080, 2400, 3), Display(412, 732)], ids=str)
def test_a_screen_of_another_size_has_the_same_goal(display: Display) -> None:
    """The solution that it is found by is played on that screen, and hits what it means there."""
    for name in ("notes.create", "clock.set_alarm"):
        task = f"{name}/train/3"
        there, here = begun(task, display).judge.verdict(None), begun(task).judge.verdict(None)
        assert there.missing
        assert (there.progress, there.missing) == (here.progress, here.missing)


def test_a_part_of_the_facts_is_a_part_of_the_progress() -> None:
    it = begun("notes.create/train/3")
    title, text = (it.judge.template.words()[word] for word in ("title", "text"))
    before = it.judge.verdict(None)
    assert before.progress == 0.0
    assert before.missing == (f"no new Note with title {title!r}, text {text!r}",)
    it.device.phone.facts.add(Note(title=title, text="something else"))
    after = it.judge.verdict(None)
    assert after.progress == pytest.approx(2 / 3)  # a note came, with that title
    assert after.missing == (f"the new Note has text 'something else', not {text!r}",)


def test_the_record_that_was_wrongly_touched_is_named() -> None:
    it = begun("notes.create/train/3")
    alarm = it.device.phone.facts.all(Alarm)[0]
    it.device.phone.facts.edit(alarm, hour=(alarm.hour + 1) % 24)
    verdict = it.judge.verdict(None)
    assert not verdict.success
    [harmed] = verdict.collateral
    assert f"(id {alarm.id}): hour {alarm.hour} → {(alarm.hour + 1) % 24}" in harmed


def test_a_second_record_of_the_right_kind_is_one_too_many() -> None:
    it = begun("notes.create/train/3")
    facts = it.device.phone.facts
    words = it.judge.template.words()
    facts.add(Note(title=words["title"], text=words["text"]))
    assert it.judge.verdict(None).success
    facts.add(Note(title="and another"))
    verdict = it.judge.verdict(None)
    assert not verdict.success
    assert verdict.progress == 1.0  # reached, with damage beside it
    assert len(verdict.collateral) == 1
    assert "and another" in verdict.collateral[0]


def test_an_answer_is_a_fact_and_any_wording_counts() -> None:
    it = begun("music.count_songs/train/2")
    *_, right = it.judge.template.solve(it.judge.start)
    assert isinstance(right, Say)
    wrong = it.judge.verdict("999")
    assert wrong.missing[-1] == "'999' is not the answer"
    assert it.judge.verdict(f"It has {right.text} songs").progress == 1.0


def test_looking_around_harms_nothing() -> None:
    it = begun("notes.create/train/3")
    finger = Finger(it.device.phone)
    for app in ("Music", "Mail", "Browser"):
        finger.phone.perform(OpenApp(app))
    assert it.judge.verdict(None).collateral == ()
