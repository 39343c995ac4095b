"""Labels stand where the ink is, and nowhere else."""

from __future__ import annotations

import string
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distrl.records import OpenApp, Pixels, Swipe
from phonesim.drawing.canvas import Canvas
from phonesim.drawing.fonts import Weight, face, text_width
from phonesim.drawing.icons import ICONS
from phonesim.drawing.labelled_canvas import (
    ACROSS,
    DOWN,
    STARTS,
    LabelledCanvas,
    Signs,
)
from phonesim.phone import Phone

MARKS = "“”‘’…–—−×÷·•°€£éèüöäñçåøß"
CHARACTERS = " " + string.digits + string.ascii_letters + string.punctuation + MARKS
CONTROLS = (
    "switch on", "switch off", "box empty", "box checked", "radio on", "radio off", "knob",
    "picture",
)  # fmt: skip
NAMES = ("", "space", "other", *CHARACTERS[1:], *CONTROLS, *(f"icon:{name}" for name in ICONS))
ALPHABET = {name: number for number, name in enumerate(NAMES) if name}
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
FACE = face(14)


def canvas() -> LabelledCanvas:
    made = LabelledCanvas(360, 720, ALPHABET)
    made.fill(0, 0, 360, 720, WHITE)
    return made


def found(labels: Signs) -> list[tuple[int, int, str, bool]]:
    """Row, column, name, and whether something begins there, in reading order."""
    return [
        (row, column, NAMES[label & (STARTS - 1)], bool(label & STARTS))
        for row, column in np.argwhere(labels).tolist()
        for label in [int(labels[row, column])]
    ]


def text_of(labels: Signs) -> str:
    return "".join(" " if name == "space" else name for _, _, name, _ in found(labels)).rstrip()


def test_a_line_of_text_is_labelled_letter_by_letter() -> None:
    drawn = canvas()
    drawn.text(30, 100, "Hi you, £5", FACE, BLACK, WHITE)
    labels = found(drawn.signs)
    assert {row for row, *_ in labels} == {(100 + FACE.line_height // 2) // DOWN}
    assert [name for _, _, name, _ in labels] == [
        *"Hi", "space", *"you,", "space", *"£5", "space"
    ]  # fmt: skip
    assert [name for _, _, name, starts in labels if starts] == ["H", "y", "5"]


LINES = st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=14)


@settings(max_examples=2 * settings().max_examples)
@given(
    LINES, st.sampled_from([10, 11, 12, 13, 14, 16, 20, 28]), st.integers(0, 60), st.integers(0, 80)
)
def test_letters_stand_where_they_are_drawn(text: str, size: int, x: int, y: int) -> None:
    """Of all letters and digits; a few marks are narrower than a place at the smallest sizes."""
    of, drawn = face(size), canvas()
    text = "".join(each for each in text if text_width(each, of) >= ACROSS or each == " ")
    drawn.text(x, y, text, of, BLACK, WHITE)
    labels = found(drawn.signs)
    visible = [(n, letter) for n, letter in enumerate(text) if x + text_width(text[:n], of) < 350]
    named = [name for _, _, name, _ in labels if name != "space"]
    assert named == [letter for _, letter in visible if letter != " "]
    places = iter([column for _, column, name, _ in labels if name != "space"])
    for number, letter in visible:
        if letter == " ":
            continue
        left = x + text_width(text[:number], of)
        right = left + text_width(letter, of)
        assert left - ACROSS < next(places) * ACROSS < right  # the place meets the letter
        assert np.any(drawn.pixels[y : y + of.line_height, left : right + 1] != 255)


def test_no_letter_is_narrower_than_a_place() -> None:
    letters = [each for each in CHARACTERS if each.isalnum()]
    weights: tuple[Weight, ...] = ("regular", "medium", "bold")
    for size in range(10, 30):  # the phone writes nothing smaller
        for weight in weights:
            assert min(text_width(each, face(size, weight)) for each in letters) >= ACROSS


def test_what_is_drawn_over_is_forgotten() -> None:
    row = (100 + FACE.line_height // 2) // DOWN
    width = text_width("gone", FACE)
    patch: Pixels = np.zeros((30, width + 6, 3), dtype=np.uint8)
    mask = np.full((30, width + 6), 255, dtype=np.uint8)
    covers: list[Callable[[LabelledCanvas], None]] = [
        lambda on: on.fill(28, 95, width + 6, 30, BLACK),
        lambda on: on.tile(patch, 28, 95),
        lambda on: on.blend(mask, 28, 95, BLACK),
        lambda on: on.rounded((28, 95, width + 6, 30), 6, BLACK, WHITE),
        lambda on: on.rounded((28, 95, width + 6, 30), 6, BLACK, None),
    ]
    for cover in covers:
        drawn = canvas()
        drawn.text(30, 100, "gone", FACE, BLACK, WHITE)
        drawn.text(200, 100, "here", FACE, BLACK, WHITE)
        cover(drawn)
        assert text_of(drawn.signs).strip() == "here"
        assert drawn.signs[row].any()
    drawn = canvas()
    drawn.text(30, 100, "gone", FACE, BLACK, WHITE)
    drawn.text(30, 100, "news", FACE, BLACK, WHITE)
    assert text_of(drawn.signs) == "news"


def test_half_a_word_may_be_left() -> None:
    drawn = canvas()
    drawn.text(30, 100, "gone away", FACE, BLACK, WHITE)
    drawn.fill(30 + text_width("gone ", FACE), 90, 200, 40, BLACK)
    assert text_of(drawn.signs) == "gone"
    drawn.fill(0, 0, 360, 100 + FACE.line_height // 4, WHITE)  # the upper quarter of the line
    assert text_of(drawn.signs) == "gone"  # its middle can still be read


def test_a_dimmed_page_can_still_be_read() -> None:
    drawn = canvas()
    drawn.text(30, 100, "behind", FACE, BLACK, WHITE)
    drawn.dim(0, 0, 360, 720)
    assert text_of(drawn.signs) == "behind"


@pytest.mark.parametrize(
    ("clip", "left"),
    [
        ((0, 0, 360, 720), "clipped text"),
        ((0, 0, 360, 105), ""),  # above its middle
        ((0, 112, 360, 720), ""),  # below it
        ((30 + text_width("clipped ", FACE), 0, 360, 720), "text"),
        ((0, 0, 30 + text_width("clipped", FACE), 720), "clipped"),
        ((200, 0, 360, 720), ""),
    ],
)
def test_clipped_text_is_not_labelled(clip: tuple[int, int, int, int], left: str) -> None:
    drawn = canvas()
    drawn.clip = clip
    drawn.text(30, 100, "clipped text", FACE, BLACK, WHITE)
    assert text_of(drawn.signs).strip() == left


def test_text_beyond_the_screen_is_cut_off_without_a_fault() -> None:
    drawn = canvas()
    for x, y in ((-40, 100), (340, 200), (30, -30), (30, 715)):
        drawn.text(x, y, "far away", FACE, BLACK, WHITE)
    assert {row for row, *_ in found(drawn.signs)} == {10, 20}
    assert len(found(drawn.signs)) < 10


def test_icons_pictures_and_controls_are_marked_in_their_middle() -> None:
    drawn = canvas()
    drawn.icon(100, 50, "search", 24, BLACK, WHITE)
    drawn.icon(200, 50, "no such icon", 24, BLACK, None)
    drawn.picture(100, 300, "portrait:Ada", 60, 60)
    drawn.mark("switch on", 300, 400, 40, 20)
    drawn.clip = (0, 0, 360, 500)
    drawn.mark("switch off", 300, 495, 40, 20)  # its middle is not visible
    assert found(drawn.signs) == [
        (6, 37, "icon:search", True),
        (6, 70, "other", True),
        (33, 43, "picture", True),
        (41, 106, "switch on", True),
    ]
    assert drawn.signs.dtype == np.uint16


def test_a_plain_canvas_takes_no_notice_of_marks() -> None:
    plain = Canvas(360, 720)
    before = plain.pixels.copy()
    plain.mark("switch on", 300, 400, 40, 20)
    assert np.array_equal(plain.pixels, before)


# On the phone ------------------------------------------------------------------------------------


def labelled(seed: int) -> tuple[Phone, LabelledCanvas]:
    phone, drawn = Phone(seed), LabelledCanvas(360, 720, ALPHABET)
    phone.draw_on(drawn)
    return phone, drawn


@pytest.mark.parametrize("app", ["Settings", "Clock", "Browser", "Maps", "Music", "To-do"])
def test_the_phone_draws_the_same_on_it(app: str) -> None:
    for seed in (2, 3):
        plain, (phone, drawn) = Phone(seed), labelled(seed)
        for action in (OpenApp(app), Swipe(0.5, 0.8, 0.5, 0.3), Swipe(0.5, 0.01, 0.5, 0.6)):
            assert np.array_equal(plain.frame(), phone.frame())
            assert drawn.signs.any()
            plain.perform(action)
            phone.perform(action)
        assert np.array_equal(plain.frame(), phone.frame())


def test_what_the_phone_says_stands_there_is_labelled() -> None:
    """Its whole list of settings: every short text, letter by letter; every switch as it is."""
    phone, drawn = labelled(4)
    phone.launch("Settings")
    phone.frame()
    texts = [e for e in phone.elements() if e.role == "row" and e.window == "app"]
    assert len(texts) > 4
    for element in texts:
        left, top, right, bottom = element.bounds
        if bottom - top < 30 or bottom > 660:
            continue  # cut off at the page's edge
        region = drawn.signs[top // DOWN : bottom // DOWN + 1, left // ACROSS : right // ACROSS]
        assert element.text.split()[0] in text_of(region)
    assert "icon:search" in [name for _, _, name, _ in found(drawn.signs)]


def test_switches_are_labelled_as_they_are() -> None:
    seen = set()
    for seed in range(6):
        phone, drawn = labelled(seed)
        phone.launch("Clock")
        phone.frame()
        for element in phone.elements():
            if element.role != "switch" or element.checked is None:
                continue
            left, top, right, bottom = element.bounds
            region = drawn.signs[top // DOWN : bottom // DOWN, left // ACROSS : right // ACROSS]
            state = "switch on" if element.checked else "switch off"
            assert [name for _, _, name, _ in found(region) if "switch" in name] == [state]
            seen.add(state)
    assert seen == {"switch on", "switch off"}
