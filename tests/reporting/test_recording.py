"""Films and sheets show what happened."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from distrl.episodes.demonstrations import demonstrate
from distrl.records import (
    Action,
    Answer,
    Back,
    Done,
    Enter,
    Home,
    Impossible,
    LongPress,
    OpenApp,
    Screen,
    Swipe,
    Tap,
    Trajectory,
    TypeText,
    Unreadable,
    Wait,
)
from distrl.reporting.recording import (
    contact_sheet,
    describe,
    draw_action,
    recording_frames,
    write_recording,
)
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task

GREY = Screen(np.full((720, 360, 3), 128, dtype=np.uint8))


@pytest.fixture(scope="module")
def played() -> Trajectory:
    return demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("film"))


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Tap(0.5, 0.25), "tap 0.50, 0.25"),
        (LongPress(0.5, 0.25), "long press 0.50, 0.25"),
        (Swipe(0.5, 0.8, 0.5, 0.2), "swipe up"),
        (Swipe(0.5, 0.2, 0.5, 0.8), "swipe down"),
        (Swipe(0.8, 0.5, 0.2, 0.5), "swipe left"),
        (Swipe(0.2, 0.5, 0.8, 0.5), "swipe right"),
        (TypeText("hi"), "type “hi”"),
        (Back(), "back"),
        (Home(), "home"),
        (Enter(), "enter"),
        (OpenApp("Notes"), "open Notes"),
        (Wait(2.0), "wait 2 s"),
        (Answer("42"), "answer “42”"),
        (Done(), "done"),
        (Impossible(), "impossible"),
        (Unreadable("???", "no"), "unreadable “???”"),
    ],
)
def test_every_action_has_words(action: Action, words: str) -> None:
    assert describe(action) == words


def test_the_finger_is_drawn_where_it_taps() -> None:
    marked = np.asarray(draw_action(GREY, Tap(0.25, 0.75))).astype(int)
    changed = np.argwhere(np.abs(marked - 128).sum(axis=2) > 30)
    middle_y, middle_x = changed.mean(axis=0)
    assert (middle_x, middle_y) == (pytest.approx(90, abs=2), pytest.approx(540, abs=2))


def test_a_swipe_reaches_from_its_start_to_its_end() -> None:
    marked = np.asarray(draw_action(GREY, Swipe(0.5, 0.8, 0.5, 0.2))).astype(int)
    rows = np.argwhere(np.abs(marked - 128).sum(axis=2) > 30)[:, 0]
    assert rows.min() < 0.21 * 720
    assert rows.max() > 0.79 * 720


def test_what_is_only_said_leaves_the_screen_as_it_is() -> None:
    assert np.array_equal(np.asarray(draw_action(GREY, Done())), GREY.pixels)


def test_a_film_has_every_screen_and_a_sheet_every_step(played: Trajectory) -> None:
    frames = recording_frames(played)
    assert len(frames) == len(played.screens)
    assert len({frame.size for frame in frames}) == 1
    sheet = contact_sheet(played, width=100)
    assert sheet.height > 2 * 200  # more than six steps: two rows


def test_films_stand_side_by_side_and_the_shorter_one_waits(
    played: Trajectory, tmp_path: Path
) -> None:
    short = demonstrate(load_task("notes.pin/train/1")[0], SimulatedDevice("film"))
    write_recording([played, short], tmp_path / "two.gif")
    one = recording_frames(played)[0]
    with Image.open(tmp_path / "two.gif") as recording:
        assert recording.width == 2 * one.width
        assert recording.n_frames == len(played.screens)  # type: ignore[attr-defined]
