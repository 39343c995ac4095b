"""A device's work in an episode is timed, also while it goes on and where it fails."""

from __future__ import annotations

import threading

from tests.episodes.made_up_collectors import GatedPhone, ManualClock, TimedPhone, wait_until

from distrl.episodes.episode import WORKS, Episode
from distrl.episodes.stage_timer import StageTimer
from distrl.records import Decision, Ending, Wait
from phonesim.faults import Faults
from phonesim.latency import EVENT_DRIVEN
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task, template_names

TASK = load_task(f"{template_names('train', 'general')[0]}/train/0")[0]
NOTHING = dict.fromkeys(WORKS, 0.0)  # its clock stands still while a task is set up or packed


def test_reset_and_action_are_timed_and_a_failing_one_as_well() -> None:
    clock = ManualClock()
    faults = Faults(schedule={2: "disconnect"})
    timer, phone = (
        StageTimer(WORKS, clock),
        TimedPhone("a", clock, latency=EVENT_DRIVEN, faults=faults),
    )
    assert timer.spent() == {**NOTHING, "reset": 0.0, "act": 0.0}
    episode = Episode.begin(TASK, phone, FactJudge(phone), timer=timer)
    episode.take(Decision(Wait(0.0)))
    assert timer.spent() == {**NOTHING, "reset": 2.0, "act": 3.0}
    clock.advance(50.0)  # between two calls it does not work
    episode.take(Decision(Wait(0.0)))
    assert timer.spent() == {**NOTHING, "reset": 2.0, "act": 6.0}
    assert episode.ended
    trajectory = episode.trajectory()
    assert trajectory.ending is Ending.DEVICE_LOST
    assert trajectory.device_seconds == phone.seconds > 0.0


def test_work_in_progress_counts_up_to_now() -> None:
    clock, phone = ManualClock(), GatedPhone("a")
    timer = StageTimer(WORKS, clock)

    def begin() -> None:
        Episode.begin(TASK, phone, FactJudge(phone), timer=timer)

    thread = threading.Thread(target=begin)
    thread.start()
    wait_until(lambda: phone.at_work)
    clock.advance(1.5)
    assert timer.spent() == {**NOTHING, "reset": 1.5, "act": 0.0}
    clock.advance(1.0)
    phone.open_gate()
    thread.join(60.0)
    clock.advance(9.0)
    assert timer.spent() == {**NOTHING, "reset": 2.5, "act": 0.0}
