"""Text of other scripts: its order on the line, its fonts, emoji, boxes for what has no font."""

from __future__ import annotations

import logging
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from distrl.records import LongPress, OpenApp, TypeText
from phonesim.drawing import world_text
from phonesim.drawing.canvas import Canvas
from phonesim.drawing.dense_canvas import new_canvas
from phonesim.drawing.emoji import EMOJI, clusters
from phonesim.drawing.fonts import face, shorten, text_mask, text_width, wrap
from phonesim.drawing.glyphs import plain_mask
from phonesim.drawing.scripts import Run, is_plain, runs, starts_right
from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.languages.language import FOLDERS
from phonesim.phone import Phone
from phonesim.system_ui.keyboard import rows_of

needs_fonts = pytest.mark.skipif(
    bool(world_text.missing_fonts()), reason="the extra `world` is not installed"
)
HELLO = {"cjk": "你好", "arabic": "مرحبا", "hebrew": "שלום", "devanagari": "नमस्ते"}


def order(text: str) -> list[str]:
    return [run.text for run in runs(text)]


def test_latin_greek_and_cyrillic_stay_with_roboto() -> None:
    for text in ("Wi-Fi", "Größe", "Ελλάδα", "Привет, мир", "5 − 3 = 2 …", "⌫"):
        assert is_plain(text)
        assert (text_mask(text, face(15)) == plain_mask(text, face(15))).all()


def test_a_line_is_cut_into_runs_of_one_script() -> None:
    assert runs("Wi-Fi 网络") == (Run("Wi-Fi ", "roboto", False), Run("网络", "cjk", False))
    assert [run.script for run in runs("ok👍🏽!")] == ["roboto", "emoji", "roboto"]


@needs_fonts
def test_right_to_left_text_is_reordered() -> None:
    """By hand after UAX #9. In a line that begins in Hebrew, everything starts at the right."""
    assert order("Room: שלום!") == ["Room: ", "שלום", "!"]
    assert order("שלום Room") == ["Room", " ", "שלום"]
    assert order("(שלום)") == ["(", "שלום", ")"]  # brackets turn around with their text
    assert order("מחיר 12 שקל") == ["שקל", " ", "12", " ", "מחיר"]  # figures keep their order
    assert all(run.right_to_left for run in runs("مرحبا") if run.script == "arabic")


def test_paragraphs_begin_where_their_first_letter_says() -> None:
    assert starts_right("12: שלום ok")
    assert not starts_right("ok שלום")
    assert not starts_right("12:30")


@needs_fonts
@pytest.mark.parametrize("script", HELLO)
def test_each_script_has_ink_of_its_own(script: str) -> None:
    text, of = HELLO[script], face(20)
    mask = text_mask(text, of)
    assert mask.shape == (of.line_height, text_width(text, of))
    assert mask.max() > 200
    dense = text_mask(text, of, 3)
    assert dense.shape == (3 * mask.shape[0], 3 * mask.shape[1])
    small = dense.reshape(mask.shape[0], 3, mask.shape[1], 3).mean(axis=(1, 3))
    assert np.corrcoef(small.ravel(), mask.ravel())[0, 1] > 0.8  # the same letters, finer


@needs_fonts
def test_arabic_and_devanagari_are_shaped() -> None:
    """Joined letters are narrower than the same letters one by one; क् + ष is one sign."""
    of = face(30)
    assert text_width("سلام", of) < sum(text_width(letter, of) for letter in "سلام")
    assert text_width("क्ष", of) < text_width("क", of) + text_width("ष", of)


def test_a_missing_font_is_boxes_and_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(world_text.FONTS, "arabic", ("no_such_package", "none.ttf"))
    of = face(23)  # of a size that nothing else here asks for
    with caplog.at_level(logging.WARNING):
        widths = [text_width(text, of) for text in ("سا", "ساس")]
    assert widths == [2 * 23, 3 * 23]
    assert text_mask("سا", of).max() == 255
    said = [record.message for record in caplog.records if "distrl[world]" in record.message]
    assert len(said) <= 1
    assert "no_such_package" in world_text.missing_fonts()


def test_emoji_have_colours_on_any_background() -> None:
    for canvas in (Canvas(60, 30), new_canvas(60, 30, 2)):
        canvas.fill(0, 0, 60, 30, (250, 250, 250))
        canvas.text(2, 2, "a❤️", face(16), (0, 0, 0), None)
        red, green, blue = (canvas.pixels[..., i].astype(int) for i in range(3))
        assert ((red > 180) & (green < 90) & (blue < 100)).sum() > 30 * canvas.density**2


def test_every_emoji_can_be_drawn_and_tones_are_dropped() -> None:
    assert [len(list(clusters(emoji))) for emoji in EMOJI] == [1] * len(EMOJI)
    assert list(clusters("👍🏽❤️👩‍🚀")) == ["👍", "❤", "👩‍🚀"]
    for emoji in EMOJI:
        canvas = Canvas(40, 30)
        canvas.text(0, 0, emoji, face(16), (0, 0, 0), None)
        assert canvas.pixels.max() > 60, emoji


def test_long_lines_are_cut_and_wrapped_without_spaces() -> None:
    of, text = face(15), "设置网络和互联网" * 6
    lines = wrap(text, of, 200)
    assert "".join(lines) == text
    assert all(text_width(line, of) <= 200 for line in lines)
    assert text_width(shorten(text, of, 100), of) <= 100


def test_keyboards_of_other_languages_have_their_letters() -> None:
    assert "ü" in rows_of("lower", "German")[0]
    assert "ẞ" in rows_of("upper", "German")[2]
    assert "ñ" in rows_of("lower", "Spanish")[1]
    for name in FOLDERS:
        for layer in ("lower", "upper", "symbols", "emoji"):
            assert all(len(row) <= 11 for row in rows_of(layer, name))


def test_anything_can_be_typed_and_emoji_are_behind_the_comma() -> None:
    phone = Phone(3, NO_DRIFT)
    finger = Finger(phone)
    phone.perform(OpenApp("Settings"))
    finger.tap("Search settings", "field")
    phone.perform(TypeText("שלום 你好 नमस्ते 👍🏽"))
    comma = finger.find(",", "key")
    x, y = comma.centre
    phone.perform(LongPress(x / 360, y / 720))
    finger.tap("😂", "key")
    assert finger.find("Search settings", "field").value == "שלום 你好 नमस्ते 👍🏽😂"
    finger.tap("abc", "key")
    assert finger.sees("q", "key")


def test_fonts_come_from_packages_alone() -> None:
    """No font is kept in the repository."""
    kept = Path(str(files("phonesim"))).rglob("*.[to]t[fc]")
    assert list(kept) == []
