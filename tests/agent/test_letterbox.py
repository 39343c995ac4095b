"""Screens of other sizes in a picture of one: what is touched there is what was shown here."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from tests.agent.dialects.made_up_actions import made_up

from distrl.agent.dialects.compact import COLUMNS, COMPACT, ROWS, place
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.letterbox import EDGE, Letterbox, filled, fitted
from distrl.agent.prompt import Prompter, full_size
from distrl.errors import InvalidAction, UsageError
from distrl.records import Back, Observation, OpenShade, Screen, Swipe, Tap, Unreadable
from phonesim.display import read_display
from phonesim.simulated_device import SimulatedDevice

PICTURE = ImageSize(360, 720)
SIZES = [(1080, 2400), (1080, 2160), (412, 732), (720, 1440), (181, 361), (1440, 1441), (333, 1001)]
each_size = pytest.mark.parametrize("size", [ImageSize(*size) for size in SIZES], ids=str)


def box_of(screen: Screen) -> Letterbox | None:
    return fitted(full_size(screen), PICTURE, "the model", "take another")


PROMPTER = Prompter(COMPACT, 6, seen_size=lambda screen: PICTURE, letterbox=box_of)


def black(size: ImageSize) -> Screen:
    return Screen(np.zeros((size.height, size.width, 3), np.uint8))


def drawn(screen: Screen) -> np.ndarray:
    box, picture = box_of(screen), np.full((720, 360, 3), 99, np.uint8)
    assert box is not None
    box.draw(screen.pixels, picture)
    return picture


@each_size
def test_a_place_is_the_same_pixel_there_and_back(size: ImageSize) -> None:
    box = Letterbox.of(size, PICTURE)
    for across in np.linspace(0, 1, 23):
        for down in np.linspace(0, 1, 31):
            tap = box.to_screen(box.to_picture(Tap(across, down)))
            assert isinstance(tap, Tap)
            assert abs(tap.x - across) * size.width < 1e-6
            assert abs(tap.y - down) * size.height < 1e-6


@each_size
def test_what_is_drawn_at_a_place_is_at_that_place_of_the_picture(size: ImageSize) -> None:
    """The middle of a white square, found in the picture, is the middle of that square."""
    box, side = Letterbox.of(size, PICTURE), max(7, size.width // 20 | 1)
    for across, down in ((0.1, 0.1), (0.5, 0.5), (0.85, 0.2), (0.3, 0.9)):
        left, top = round(across * size.width), round(down * size.height)
        pixels = np.zeros((size.height, size.width, 3), np.uint8)
        pixels[top : top + side, left : left + side] = 255
        light = drawn(Screen(pixels))[..., 0].astype(float)
        rows, columns = np.arange(720) + 0.5, np.arange(360) + 0.5
        x, y = light.sum(0) @ columns / light.sum(), light.sum(1) @ rows / light.sum()
        tap = box.to_screen(Tap(x / 360, y / 720))
        assert isinstance(tap, Tap)
        one = size.width / box.size.width  # pixels of the screen in one of the picture
        assert abs(tap.x * size.width - (left + side / 2)) < 0.5 * max(1.0, one)
        assert abs(tap.y * size.height - (top + side / 2)) < 0.5 * max(1.0, one)


@each_size
def test_the_aspect_is_kept_and_the_bars_are_black(size: ImageSize) -> None:
    box = Letterbox.of(size, PICTURE)
    assert abs(box.size.width / size.width - box.size.height / size.height) * size.height <= 2.0
    assert box.size.width == 360 or box.size.height == 720
    white = Screen(np.full((size.height, size.width, 3), 255, np.uint8))
    picture = drawn(white)
    inside = picture[
        box.top : box.top + box.size.height, box.left : box.left + box.size.width
    ].copy()
    assert inside.min() == 255
    assert int((picture > 0).sum()) == inside.size


@each_size
def test_every_answer_is_told_as_it_was_given(size: ImageSize) -> None:
    """Of all cells: those that show some of the screen come back, the others cannot be read."""
    box, screen = Letterbox.of(size, PICTURE), black(size)
    now = Observation("Go.", screen, ())
    readable = 0
    for row in range(ROWS):
        for column in range(COLUMNS):
            answer = f"<tap><{column},{row}>"
            action = PROMPTER.read(answer, now)
            x, y = 10 * column + 5 - box.left, 10 * row + 5 - box.top
            shown = -EDGE < x < box.size.width + EDGE and -EDGE < y < box.size.height + EDGE
            assert isinstance(action, Tap if shown else Unreadable)
            if shown:
                readable += 1
                assert PROMPTER.write(Observation("Go.", screen, (action,))).text.endswith(answer)
                assert PROMPTER.answer(action, now) == answer
    assert readable >= COLUMNS * ROWS * 0.9 * filled(size, PICTURE)


def test_a_place_on_the_bars_is_unreadable_and_says_so() -> None:
    now = Observation("Go.", black(ImageSize(1080, 2400)), ())
    action = PROMPTER.read("<swipe><18,54><0,18>", now)
    assert isinstance(action, Unreadable)
    assert action.text == "<swipe><18,54><0,18>"
    assert "bars" in action.reason
    with pytest.raises(InvalidAction):
        Letterbox.of(ImageSize(1080, 2400), PICTURE).to_screen(Tap(0.0, 0.5))


@each_size
def test_only_places_are_moved(size: ImageSize) -> None:
    box = Letterbox.of(size, PICTURE)
    for action, _ in made_up("letterbox", 300):
        back = box.to_screen(box.to_picture(action))
        places = [name for name in ("x", "y", "to_x", "to_y") if hasattr(action, name)]
        if not places:
            assert back is action
        was, now = asdict(action), asdict(back)
        for name in places:
            assert abs(was.pop(name) - now.pop(name)) < 1e-9
        assert (type(back), now) == (type(action), was)


def test_what_has_no_word_is_put_on_the_screen_not_on_the_bars() -> None:
    now = Observation("Go.", black(ImageSize(412, 732)), ())
    swipe = PROMPTER.read(PROMPTER.answer(OpenShade(), now), now)
    assert isinstance(swipe, Swipe)
    assert swipe.y == pytest.approx(0.0, abs=0.01)


def test_a_screen_of_the_pictures_size_is_left_alone() -> None:
    screen = black(PICTURE)
    assert box_of(screen) is None
    plain = Prompter(COMPACT, 6)
    for column in range(COLUMNS):
        answer = f"<swipe><{column},{2 * column}><3,4>"
        action = PROMPTER.read(answer, Observation("Go.", screen, ()))
        assert action == plain.read(answer, Observation("Go.", screen, ()))
        past = Observation("Go.", screen, (action, Tap(0.123456789, 0.987654321), Back()))
        assert PROMPTER.write(past) == plain.write(past)


@pytest.mark.parametrize(
    ("size", "why"),
    [
        ((1280, 800), "fill 31% of that, less than half"),
        ((721, 720), "less than half"),
        ((400, 1700), "fill 47% of that"),
        ((179, 360), "below 180 × 360"),
        ((180, 359), "below 180 × 360"),
    ],
)
def test_a_screen_that_loses_too_much_is_refused(size: tuple[int, int], why: str) -> None:
    with pytest.raises(UsageError, match=rf"the model reads 360 × 720 .*{why}.*take another"):
        fitted(ImageSize(*size), PICTURE, "the model", "take another")


@pytest.mark.parametrize("screen", ["1080x2400@3", "412x732@1", "720x1440@2"])
def test_an_element_that_is_answered_in_the_picture_is_touched_on_the_phone(screen: str) -> None:
    """The cell that an icon's middle lies in, read as an answer, is a tap on that icon."""
    with SimulatedDevice("phone", display=read_display(screen)) as phone:
        phone.reset(3)
        now = Observation("Go.", phone.screen(), ())
        box = box_of(now.screen)
        assert box is not None
        icons = [each for each in phone.elements() if each.touchable]
        assert len(icons) > 4
        for icon in icons:
            left, top, right, bottom = icon.bounds
            middle = (
                (left + right) / 2 / now.screen.width,
                (top + bottom) / 2 / now.screen.height,
            )
            tap = PROMPTER.read(f"<tap>{place(*box.place_in_picture(*middle))}", now)
            assert isinstance(tap, Tap)
            assert icon.covers(tap.x * now.screen.width, tap.y * now.screen.height)
