"""What every dialect promises: nothing raises, and what is written is read back."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.dialects.made_up_actions import FRAGMENTS, made_up, spoilt

from distrl import records as r
from distrl.agent.dialects import DIALECTS
from distrl.agent.dialects.aitw import MAX_TAP
from distrl.agent.dialects.answer_span import MAX_CHARACTERS
from distrl.agent.dialects.dialect import RARE, Dialect, ImageSize, nearest
from distrl.agent.dialects.fields import direction_of

CASES, FEW_CASES = 10_000, 500  # all of them with --all-seeds
PHONE = ImageSize(360, 720)
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())


def _resolution(name: str, image: ImageSize) -> tuple[float, float]:
    """How far off a place may come back."""
    match name:
        case "compact":
            return 0.5 / 36, 0.5 / 72
        case "aitw":
            return 0.5e-4, 0.5e-4
        case "qwen3_vl":
            return 0.5 / 999, 0.5 / 999
        case "ui_tars" | "autoglm" | "elements":
            return 1 / 1000, 1 / 1000
        case _:  # pixels
            return 1 / image.width, 1 / image.height


def _sayable(name: str, action: r.Action) -> r.Action:
    """What a dialect makes of an action that it may have no words for; its module says the same."""
    if not isinstance(action, DIALECTS[name].says):
        action = nearest(action)
    match name, action:
        case "compact", r.Swipe(seconds=seconds):
            return replace(action, seconds=max(1, round(10 * seconds)) / 10)
        case "aitw", r.LongPress(x, y):
            return r.Tap(x, y)
        case "aitw", r.OpenApp():
            return r.Home()
        case "aitw" | "android_world", r.Wait():
            return r.Wait()
        case "ui_tars" | "ui_tars_1_5", r.Wait():
            return r.Wait(5.0)
        case "aitw" | "ui_tars" | "ui_tars_1_5" | "autoglm", r.Answer(""):
            return r.Done()
        case _, r.Swipe():
            return replace(action, seconds=0.3)
        case _:
            return action


def _agree(name: str, back: r.Action, said: r.Action, image: ImageSize) -> bool:
    across, down = (distance + 1e-12 for distance in _resolution(name, image))
    if name in ("android_world", "elements") and isinstance(said, r.Swipe):
        return isinstance(back, r.Swipe) and direction_of(back) == direction_of(said)
    if name == "aitw" and isinstance(said, r.Swipe):
        beyond_a_tap = math.dist((said.x, said.y), (said.to_x, said.to_y)) - MAX_TAP
        rounding_decides = abs(beyond_a_tap) < 2e-4
        if isinstance(back, r.Tap) if rounding_decides else beyond_a_tap <= 0.0:
            said = r.Tap(said.x, said.y)
    match back, said:
        case (
            (r.Tap(x, y), r.Tap(wanted_x, wanted_y))
            | (r.LongPress(x, y), r.LongPress(wanted_x, wanted_y))
            | (r.DoubleTap(x, y), r.DoubleTap(wanted_x, wanted_y))
        ):
            return abs(x - wanted_x) <= across and abs(y - wanted_y) <= down
        case r.Swipe(), r.Swipe():
            ends = zip(
                (back.x, back.to_x, back.y, back.to_y),
                (said.x, said.to_x, said.y, said.to_y),
                (across, across, down, down),
                strict=True,
            )
            return back.seconds == said.seconds and all(abs(a - b) <= off for a, b, off in ends)
        case r.Wait(seconds), r.Wait(wanted):
            return seconds == pytest.approx(wanted, rel=1e-5)
        case _:
            return back == said


@every_dialect
def test_what_is_written_is_read_back(dialect: Dialect, all_seeds: bool) -> None:
    seen, cases = 0, CASES if all_seeds else FEW_CASES
    for action, image in made_up(dialect.name, cases):
        written = dialect.write(action, image)
        back = dialect.read(written, image)
        said = _sayable(dialect.name, action)
        assert _agree(dialect.name, back, said, image), (action, written, back)
        assert dialect.write(back, image) == written, (action, written, back)
        seen += 1
    assert seen == cases


@every_dialect
def test_a_spoilt_answer_is_an_action_or_says_why_not(dialect: Dialect, all_seeds: bool) -> None:
    rng, read = random.Random(f"spoilt/{dialect.name}"), 0
    cases = CASES if all_seeds else FEW_CASES
    for action, image in made_up(f"spoilt/{dialect.name}", cases):
        answer = spoilt(dialect.write(action, image), rng)
        back = dialect.read(answer, image)
        assert isinstance(back, r.Action), answer
        if isinstance(back, r.Unreadable):
            assert back.text == answer
            assert 5 < len(back.reason) < 300
            back.reason.encode()
        else:
            written = dialect.write(back, image)
            assert dialect.write(dialect.read(written, image), image) == written, answer
            read += 1
    assert 0 < read < cases  # spoilt, but not hopeless


@every_dialect
@settings(max_examples=3 * settings().max_examples)
@given(answer=st.text() | st.text(alphabet=st.characters(codec="ascii")))
def test_any_text_is_an_action_or_says_why_not(dialect: Dialect, answer: str) -> None:
    assert isinstance(dialect.read(answer, PHONE), r.Action)


@every_dialect
@settings(max_examples=3 * settings().max_examples)
@given(typed=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_typed_text_survives(dialect: Dialect, typed: str) -> None:
    for action in (r.TypeText(typed), r.Answer(f"{typed}!")):
        assert dialect.read(dialect.write(action, PHONE), PHONE) == action


@every_dialect
def test_each_hard_fragment_survives_alone_in_front_and_at_the_end(dialect: Dialect) -> None:
    for fragment in FRAGMENTS:
        for typed in (fragment, f"{fragment} ok", f"ok {fragment}", fragment * 3):
            action = r.TypeText(typed)
            assert dialect.read(dialect.write(action, PHONE), PHONE) == action


@every_dialect
@pytest.mark.parametrize(
    "answer",
    [
        "", " ", "\n" * 50_000, "\x00", "\ud800", "\udfff\ud800", "\ufeff", "x" * 1_000_000,
        "{" * 1_000_000, '{"a' * 16_000, '{"action_type' * 3_000, "<think>" * 7_000, "[" * 50_000,
        '{"action": "type", "text": "' + '", ' * 12_000, "<tool_call>" * 4_500, "<" * 49_000,
        'do(action="' * 4_500, "click(start_box='" * 2_900, "Action:\n" * 6_000, "</think>" * 6_000,
        '"action_type": ' * 3_300, '{"action":' + " " * 49_000, "click(" + " " * 49_000,
        "{" + "a" * 49_000, '{"action": "wait", "time": "3' + " " * 49_000 + 'x"}', "\\" * 49_000,
        'do(action="Type", text="' + "a\\" * 20_000, "Action" + " " * 49_000, "\ud800" * 49_000,
        'do(action="Type", text="' + '"' * 40_000, "finish(message='" + "')" * 20_000 + "x",
    ],
    ids=lambda answer: f"{answer[:12]!r}x{len(answer)}",
)  # fmt: skip
def test_floods_and_rubble_touch_nothing(dialect: Dialect, answer: str) -> None:
    """And soon: pytest's time limit would end a search that grows with the square of the length."""
    read = dialect.read(answer, PHONE)
    assert not isinstance(read, r.Tap | r.LongPress | r.Swipe)


@every_dialect
def test_a_text_with_half_a_character_is_not_typed(dialect: Dialect) -> None:
    for half in ("\ud83d", "a\udc00b"):
        assert isinstance(dialect.read(dialect.write(r.TypeText(half), PHONE), PHONE), r.Unreadable)


@every_dialect
def test_only_so_much_is_searched(dialect: Dialect) -> None:
    action = r.TypeText("a" * MAX_CHARACTERS)
    read = dialect.read(dialect.write(action, PHONE), PHONE)
    if dialect.name in ("compact", "elements"):  # nothing to search: the first word says what it is
        assert read == action
    else:
        assert isinstance(read, r.Unreadable)
        assert "characters; an answer has 50,000 at most" in read.reason


@every_dialect
def test_what_was_unreadable_is_told_as_it_was_said(dialect: Dialect) -> None:
    assert dialect.write(r.Unreadable("mumble", "no action"), PHONE) == "mumble"


@every_dialect
def test_instructions_name_what_is_written(dialect: Dialect) -> None:
    """A model that has only read them can say everything that the dialect writes."""
    if dialect.name == "compact":
        assert dialect.instructions == ""
        return
    words = {
        "aitw": "DUAL_POINT TYPE PRESS_BACK PRESS_HOME PRESS_ENTER IDLE STATUS_TASK_COMPLETE",
        "android_world": "click long_press scroll input_text open_app answer wait navigate_back",
        "qwen2_5_vl": "<tool_call> mobile_use click long_press swipe type open answer wait pixels",
        "qwen3_vl": "<tool_call> mobile_use click long_press swipe type open answer wait 999",
        "ui_tars": "click( long_press( drag( type( open_app( wait( finished( call_user( 1000",
        "ui_tars_1_5": "click( long_press( drag( type( open_app( wait( finished( pixels",
        "elements": "tap hold type set scroll shade open: back home enter wait answer: done 512",
        "autoglm": "do( Tap Swipe Type Launch Enter Back Home Wait Take_over finish( 999",
    }
    assert all(word in dialect.instructions for word in words[dialect.name].split())


@every_dialect
def test_rare_actions_are_said_or_have_something_near(dialect: Dialect) -> None:
    assert set(dialect.says) <= set(RARE)
    for action in (r.DoubleTap(0.5, 0.5), r.Recents(), r.Power(), r.AskUser("Which one?")):
        back = dialect.read(dialect.write(action, PHONE), PHONE)
        assert not isinstance(back, r.Unreadable)
        if isinstance(action, dialect.says):
            assert type(back) is type(action)
        else:
            assert type(back) is type(nearest(action))


def test_the_reply_is_told_and_not_believed() -> None:
    asked = r.AskUser("Which one?", reply="The blue one.")
    for dialect in (d for d in DIALECTS.values() if r.AskUser in d.says):
        written = dialect.write(asked, PHONE)
        assert "The blue one." in written
        assert dialect.read(written, PHONE) == r.AskUser("Which one?")
