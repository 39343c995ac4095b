"""The solver finds what a move names, wherever it is, and says so when it is nowhere."""

import pytest

from distrl.hierarchy import Element
from distrl.records import Answer, Back, Done, Home, OpenApp, Swipe, Tap
from phonesim.drift import NO_DRIFT, Drift
from phonesim.phone import Phone
from phonesim.tasks.moves import Fill, Move, Open, Press, Reveal, Say
from phonesim.tasks.solver import ScriptLost, Solver


def play(phone: Phone, *moves: Move, most: int = 40) -> list[object]:
    solver = Solver(moves)
    actions: list[object] = []
    for _ in range(most):
        action = solver.next(phone.elements())
        actions.append(action)
        if isinstance(action, Done | Answer):
            return actions
        phone.perform(action)
    raise AssertionError(actions)


def test_it_opens_apps_from_wherever_it_is() -> None:
    phone = Phone(2, NO_DRIFT)
    phone.perform(OpenApp("Settings"))
    actions = play(phone, Open("Notes"))
    assert isinstance(actions[0], Home)
    assert phone.state.front == "Notes"


def test_every_app_of_every_phone_is_found_by_its_icon() -> None:
    for seed in range(5):
        phone = Phone(seed, Drift(popup_rate=0.0))
        for name in [app.name for app in phone.apps.values() if app.preinstalled]:
            play(phone, Open(name))
            assert phone.state.front == name


def test_it_scrolls_to_what_is_out_of_sight() -> None:
    phone = Phone(2, NO_DRIFT)
    actions = play(phone, Open("Settings"), Press("System"))
    assert any(isinstance(action, Swipe) for action in actions)
    assert phone.routes[-1].page != "home"


def test_it_replaces_what_stands_in_a_field() -> None:
    phone = Phone(2, NO_DRIFT)
    play(phone, Open("Notes"), Press("New note"), Fill("Title", "one"), Fill("Title", "two"))
    field = next(e for e in phone.elements() if e.text == "Title" and e.role == "field")
    assert field.value == "two"


def test_it_declines_popups_on_the_way() -> None:
    phone = Phone(3, Drift(popup_rate=0.6))
    play(phone, Open("Notes"), Press("New note"))
    assert phone.routes[-1].page == "edit"
    assert phone.state.popups > 0


def test_it_hides_the_keyboard_when_that_covers_the_target() -> None:
    page = Element("scroll", "", (0, 72, 360, 476), scrollable=True)
    key = Element("key", "q", (0, 482, 36, 526), window="keyboard", clickable=True)
    assert Solver([Press("Further down")]).next([page, key]) == Back()
    assert isinstance(Solver([Press("Further down")]).next([page]), Swipe)


def test_an_answer_ends_the_script() -> None:
    assert play(Phone(2, NO_DRIFT), Say("forty-two")) == [Answer("forty-two")]


def test_what_is_nowhere_is_reported_with_what_there_is() -> None:
    phone = Phone(2, NO_DRIFT)
    with pytest.raises(ScriptLost, match=r"'No such thing'.*Search notes"):
        play(phone, Open("Notes"), Reveal("No such thing"))


def test_it_taps_beside_what_lies_on_top() -> None:
    """A row half below a floating button is tapped where it is free."""
    phone = Phone(2, NO_DRIFT)
    play(phone, Open("Contacts"))
    row = [e for e in phone.elements() if e.role == "row"][-1]
    action = Solver([Press(row.text)]).next(phone.elements())
    assert isinstance(action, Tap | Swipe | Back)
