"""MiniWoB's pages as tasks: seeds, limits, and its own rewards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from distrl.config.training_config import load_config
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.replayed_page import ReplayedBrowserDevice
from distrl.devices.device import Forkable
from distrl.engine.browser_wiring import build_pages
from distrl.episodes.episode import Episode
from distrl.errors import InvalidSetting, NotInstalled, UnknownTask
from distrl.hierarchy import Element
from distrl.records import Decision, Done, Ending, Swipe, Tap
from distrl.task_sets.miniwob import MiniwobJudge, find_pages, load_task
from distrl.task_sets.task_pool import NumberedTasks

WORDS = [
    "devices.kind=browser", "tasks.source=miniwob", "judge.kind=page", "evaluation.before=0",
    "evaluation.after=0",
]  # fmt: skip


@pytest.fixture(autouse=True)
def needs_the_package() -> None:
    try:
        find_pages()
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")


def test_there_are_125_pages_with_steps_as_a_person_has_seconds() -> None:
    pages = find_pages()
    assert len(pages.step_limits) == 125
    assert pages.step_limits["click-test"] == 10
    assert max(pages.step_limits.values()) == 30  # where it gives minutes
    assert len(pages.named(())) == 122  # a finger cannot hover
    assert sorted(pages.named(("miniwob.click-test*",))) == [
        "miniwob.click-test", "miniwob.click-test-2", "miniwob.click-test-transfer",
    ]  # fmt: skip
    with pytest.raises(InvalidSetting, match="none of MiniWoB's 125 pages"):
        pages.named(("clock.*",))


def test_seeds_of_training_and_testing_never_meet() -> None:
    names = ("miniwob.click-test",)
    seeds = {
        split: {pool.task(names[0], turn).seed for turn in range(500)}
        for split in ("train", "test")
        for pool in [NumberedTasks(names, load_task, split)]
    }
    assert len(seeds["train"]) == len(seeds["test"]) == 500
    assert not seeds["train"] & seeds["test"]


def test_shares_of_collectors_are_apart_and_an_id_rebuilds_a_task() -> None:
    names = ("miniwob.click-link",)
    first, second = (NumberedTasks(names, load_task, "train", 3, share, 2) for share in (0, 1))
    ids = [pool.task(names[0], turn).id for pool in (first, second) for turn in range(10)]
    assert len(set(ids)) == 20
    assert first.find(ids[3]) == load_task(ids[3]) == first.task(names[0], 3)
    for bad in ("miniwob.none/train/0", "click-test/train/0", "miniwob.click-test/held_out/0"):
        with pytest.raises(UnknownTask):
            load_task(bad)


# In Chromium -------------------------------------------------------------------------------------


@pytest.fixture
def device() -> Iterator[BrowserDevice]:
    with ExitStack() as opened:
        try:
            [device] = build_pages(load_config(None, WORDS), ("page",), opened)
            device.reset(0)
        except NotInstalled as error:
            pytest.skip(f"left out: {error}")
        yield device
        device.close()


def tap(element: Element) -> Tap:
    x, y = element.centre
    return Tap(x / 360, y / 720)


def button(device: BrowserDevice, text: str) -> Tap:
    return tap(next(e for e in device.elements() if (e.role, e.text) == ("button", text)))


@pytest.mark.browser
@pytest.mark.slow
def test_the_page_words_its_task_and_judges_it(device: BrowserDevice) -> None:
    for wanted, ending in ((True, Ending.SUCCESS), (False, Ending.FAILURE)):
        judge = MiniwobJudge(device)
        task = load_task("miniwob.click-test-2/test/4")
        episode = Episode.begin(task, device, judge)
        instruction = episode.observation.instruction
        assert instruction.startswith("Click button ")
        word = instruction.removeprefix("Click button ").rstrip(".")
        other = {"ONE": "TWO", "TWO": "ONE"}[word]
        assert not judge.verdict(None).success
        for action in (button(device, word if wanted else other), button(device, word), Done()):
            episode.take(Decision(action))  # the second tap comes too late
        trajectory = episode.trajectory()
        assert trajectory.ending is ending, trajectory.verdict
        assert trajectory.task.instruction == instruction
        assert trajectory.task.id == task.id


@pytest.mark.browser
@pytest.mark.slow
def test_the_same_seed_is_the_same_page(device: BrowserDevice) -> None:
    digests = []
    for number in (1, 1, 2):
        device.reset(0)
        MiniwobJudge(device).begin(load_task(f"miniwob.click-link/train/{number}"))
        digests.append(device.screen().digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.browser
@pytest.mark.slow
def test_an_episode_goes_on_from_a_snapshot(device: BrowserDevice) -> None:
    assert isinstance(device, ReplayedBrowserDevice)
    assert isinstance(device, Forkable)
    judge = MiniwobJudge(device)
    judge.begin(load_task("miniwob.click-checkboxes/train/0"))
    boxes = [element for element in device.elements() if element.role == "checkbox"]
    ticked = device.perform(tap(boxes[0])).digest
    middle = device.snapshot()
    both = device.perform(tap(boxes[1])).digest
    assert both != ticked
    device.restore(middle)
    assert device.screen().digest == ticked
    assert device.perform(tap(boxes[1])).digest == both
    assert not judge.verdict(None).success


@pytest.mark.browser
@pytest.mark.slow
def test_a_finger_drags_what_jquery_lets_a_mouse_drag(device: BrowserDevice) -> None:
    MiniwobJudge(device).begin(load_task("miniwob.use-slider/train/0"))
    before = device.evaluate("$('#slider').slider('value')")
    handle = "document.querySelector('.ui-slider-handle').getBoundingClientRect()"
    x, y = (float(str(device.evaluate(f"{handle}.{side} + 4"))) for side in ("left", "top"))
    device.perform(Swipe(x / 160, y / 320, 0.5, 0.6))  # it may lie or stand
    assert device.evaluate("$('#slider').slider('value')") != before
