"""The finger does by label what a hand does at a place, and says what it cannot find."""

from collections.abc import Callable

import numpy as np
import pytest

from distrl.errors import UsageError
from distrl.records import LongPress, Tap
from phonesim.apps.notes import Note
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Press, Say
from phonesim.tasks.solver import ScriptLost, Solver


@pytest.fixture
def finger(finger: Finger) -> Finger:
    finger.open("Notes")
    return finger


def test_it_opens_an_app_by_its_name(finger: Finger) -> None:
    assert finger.phone.state.front == "Notes"
    finger.open("Settings")
    assert finger.phone.state.front == "Settings"


@pytest.mark.parametrize(("touch", "action"), [(Finger.tap, Tap), (Finger.hold, LongPress)])
def test_it_touches_the_middle_of_what_it_names(
    finger: Finger, touch: Callable[[Finger, str], None], action: type[Tap | LongPress]
) -> None:
    note = next(e for e in finger.phone.elements() if e.role == "row")
    other = Phone(0)
    other.restore(finger.phone.snapshot())
    touch(finger, note.text)
    x, y = note.centre
    other.perform(action(x / WIDTH, y / HEIGHT))
    assert finger.phone.state.running == other.state.running
    assert len(finger.phone.routes) == 2
    assert np.array_equal(finger.phone.frame(), other.frame())


def test_a_role_chooses_among_things_of_the_same_name(finger: Finger) -> None:
    finger.tap("New note")
    finger.tap("Title", "field")
    finger.tap("t", "key")
    assert finger.find("Title", "field").value == "t"
    finger.open("Clock")
    assert {e.role for e in finger.phone.elements() if e.text == "Alarm"} == {"text", "tab"}
    assert [finger.find("Alarm", role).role for role in ("text", "tab")] == ["text", "tab"]


def test_of_several_it_takes_the_topmost(finger: Finger) -> None:
    finger.open("To-do")
    finger.tap("Work")
    box = next(e for e in finger.phone.elements() if e.role == "checkbox")
    assert [e.role for e in finger.phone.elements() if e.text == box.text] == ["row", "checkbox"]
    assert finger.find(box.text) == box


def test_a_caption_does_not_stand_in_the_way_of_its_picture(finger: Finger) -> None:
    finger.open("Gallery")
    picture = next(e for e in finger.phone.elements() if e.role == "picture")
    assert finger.sees(picture.text, "text")
    assert finger.find(picture.text) == picture
    finger.tap(picture.text)
    assert finger.phone.routes[-1].page == "photo"


def test_it_types_after_what_stands_in_a_field(finger: Finger) -> None:
    finger.tap("New note")
    finger.fill("Title", "Low")
    finger.fill("Text", "at nine")
    finger.fill("Title", " tide")
    finger.tap("Save")
    note = finger.phone.facts.all(Note)[-1]
    assert (note.title, note.text) == ("Low tide", "at nine")


def test_it_scrolls_down_and_up_again(finger: Finger) -> None:
    finger.open("Settings")
    top = finger.labels
    finger.scroll()
    assert finger.labels - top
    finger.scroll(up=True)
    assert finger.labels == top


def test_it_sees_what_is_on_the_screen_and_no_more(finger: Finger) -> None:
    assert finger.sees("Search notes")
    assert finger.sees("Search notes", "field")
    assert not finger.sees("Search notes", "button")
    assert not finger.sees("Search settings")
    assert {"Search notes", "New note"} <= finger.labels
    assert "Search settings" not in finger.labels


def test_what_is_not_there_is_said_with_what_is(finger: Finger) -> None:
    before = finger.phone.snapshot()
    with pytest.raises(UsageError, match=r"nothing called 'Tides' on the screen.*'Search notes'"):
        finger.tap("Tides")
    with pytest.raises(UsageError, match="'Search notes' with the role 'button'"):
        finger.hold("Search notes", "button")
    with pytest.raises(UsageError, match="'New note' with the role 'field'"):
        finger.fill("New note", "text")
    assert finger.phone.state.actions == before.actions


def test_it_follows_a_script_to_its_end_and_says_nothing_to_the_phone(finger: Finger) -> None:
    script = Solver([Press("New note"), Fill("Title", "Tides"), Press("Save"), Say("saved")])
    before = finger.phone.state.actions
    finger.follow(script)
    assert finger.phone.facts.all(Note)[-1].title == "Tides"
    assert finger.phone.state.actions == before + 4  # the field is tapped before it is typed into


def test_a_script_that_is_lost_is_not_followed_for_ever(finger: Finger) -> None:
    with pytest.raises(ScriptLost, match="'Tides'"):
        finger.follow(Solver([Press("Tides")]))
