"""The phone as a finger meets it."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
import pytest

from distrl.errors import InvalidSetting, UnknownApp
from distrl.records import Back, Done, Enter, Home, OpenApp, Swipe, Tap, TypeText, Wait
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.drift import NO_DRIFT, Drift
from phonesim.finger import Finger
from phonesim.hierarchy_xml import uiautomator_xml
from phonesim.phone import Phone
from phonesim.system import SystemSettings


def test_a_frame_is_a_real_picture_that_nobody_can_write_to(phone: Phone) -> None:
    frame = phone.frame()
    assert frame.shape == (HEIGHT, WIDTH, 3)
    assert frame.dtype == np.uint8
    assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 100
    with pytest.raises(ValueError, match="read-only"):
        frame[0, 0] = 0


def test_an_earlier_frame_stays_as_it_was(phone: Phone) -> None:
    before = phone.frame()
    kept = before.copy()
    phone.perform(OpenApp("Notes"))
    assert not np.array_equal(phone.frame(), kept)
    assert np.array_equal(before, kept)


def test_the_keyboard_types_when_its_keys_are_tapped(phone: Phone, finger: Finger) -> None:
    phone.perform(OpenApp("Notes"))
    finger.tap("New note")
    finger.tap("Title", "field")
    finger.tap("Shift", "key")
    for key in ("H", "i"):
        finger.tap(key, "key")
    finger.tap("?123", "key")
    finger.tap("!", "key")
    assert finger.find("Title", "field").value == "Hi!"
    finger.tap("Delete", "key")
    assert finger.find("Title", "field").value == "Hi"


def test_text_goes_nowhere_without_a_focused_field(phone: Phone) -> None:
    phone.perform(OpenApp("Notes"))
    before = phone.snapshot().running
    phone.perform(TypeText("lost"))
    assert phone.state.running == before


def test_back_hides_the_keyboard_first_then_closes_the_page_then_the_app(
    phone: Phone, finger: Finger
) -> None:
    phone.perform(OpenApp("Notes"))
    finger.tap("New note")
    finger.tap("Title", "field")
    assert any(e.window == "keyboard" for e in phone.elements())
    phone.perform(Back())
    assert not any(e.window == "keyboard" for e in phone.elements())
    phone.perform(Back())
    assert "New note" in finger.labels
    phone.perform(Back())
    assert "Search the web" in finger.labels


def test_below_a_dialog_nothing_can_be_read_or_reached(phone: Phone, finger: Finger) -> None:
    phone.perform(OpenApp("Notes"))
    note = next(e for e in phone.elements() if e.role == "row")
    finger.hold(note.text)
    finger.tap("Delete")
    assert "Delete note?" in finger.labels
    assert "Search notes" not in finger.labels
    x, y = note.centre
    phone.perform(Tap(x / WIDTH, y / HEIGHT))  # beside the dialog: it closes, nothing else happens
    assert "Delete note?" not in finger.labels
    assert note.text in finger.labels


def test_a_faster_swipe_rolls_further(phone: Phone) -> None:
    offsets = {}
    phone.perform(OpenApp("Settings"))
    start = phone.snapshot()
    for seconds in (0.2, 1.0):
        phone.restore(start)
        phone.perform(Swipe(0.5, 0.6, 0.5, 0.5, seconds))
        offsets[seconds] = phone.routes[-1].memory["scroll"]
    assert offsets[0.2] > offsets[1.0] >= 0.1 * HEIGHT - 1  # type: ignore[operator]


def test_a_list_stops_at_its_ends(phone: Phone) -> None:
    phone.perform(OpenApp("Settings"))
    for _ in range(12):
        phone.perform(Swipe(0.5, 0.8, 0.5, 0.2))
    bottom = phone.frame()
    phone.perform(Swipe(0.5, 0.8, 0.5, 0.2))
    assert np.array_equal(bottom[24:], phone.frame()[24:])  # the clock may have gone on
    for _ in range(12):
        phone.perform(Swipe(0.5, 0.3, 0.5, 0.9))
    assert phone.routes[-1].memory["scroll"] == 0


def test_the_shade_comes_down_from_the_top_and_its_tiles_work(phone: Phone, finger: Finger) -> None:
    phone.perform(Swipe(0.5, 0.01, 0.5, 0.6))
    before = phone.facts.one(SystemSettings).flashlight
    finger.tap("Flashlight", "switch")
    assert phone.facts.one(SystemSettings).flashlight is not before
    phone.perform(Back())
    assert "Search the web" in finger.labels


def test_recents_bring_an_app_back_to_the_page_where_it_was(phone: Phone, finger: Finger) -> None:
    phone.perform(OpenApp("Notes"))
    finger.tap("New note")
    phone.perform(Home())
    finger.tap("Overview", "button")
    finger.tap("Notes", "app")
    assert "Title" in finger.labels


def test_the_drawer_finds_every_app_by_name(phone: Phone, finger: Finger) -> None:
    phone.perform(Swipe(0.5, 0.75, 0.5, 0.3))
    finger.tap("Search apps", "field")
    phone.perform(TypeText("not"))
    finger.tap("Notes", "app")
    assert phone.state.front == "Notes"


def test_an_unknown_app_is_said_on_the_screen_and_changes_nothing_else(
    phone: Phone, finger: Finger
) -> None:
    phone.perform(OpenApp("Nowhere"))
    assert "No app called Nowhere" in finger.labels
    assert phone.state.front == "Launcher"
    with pytest.raises(UnknownApp, match="no app called 'Nowhere'; there are"):
        phone.launch("Nowhere")


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, None])
def test_a_bad_seed_is_refused(seed: object) -> None:
    with pytest.raises(InvalidSetting, match="whole number"):
        Phone(seed)  # type: ignore[arg-type]


def test_a_bad_rate_is_refused() -> None:
    with pytest.raises(InvalidSetting, match=r"popup_rate=1.5"):
        Drift(popup_rate=1.5)


def test_what_an_agent_only_says_leaves_the_phone_untouched(phone: Phone) -> None:
    before = phone.frame()
    phone.perform(Done())
    assert phone.state.actions == 0
    assert phone.frame() is before


def test_waiting_makes_the_clock_go_on(phone: Phone) -> None:
    before = phone.now
    phone.perform(Wait(120.0))
    assert (phone.now - before).total_seconds() >= 120


def test_a_snapshot_can_be_forked_and_both_go_their_own_way(phone: Phone, finger: Finger) -> None:
    phone.perform(OpenApp("Notes"))
    middle = phone.snapshot()
    finger.tap("New note")
    one = phone.frame()
    other = Phone(99)
    other.restore(middle)
    Finger(other).tap("New note")
    assert np.array_equal(one, other.frame())
    Finger(other).tap("Save")
    phone.restore(middle)
    assert len(other.facts.all(type(other.facts.all(_note_kind(other))[0]))) > len(
        phone.facts.all(_note_kind(phone))
    )


def _note_kind(phone: Phone) -> type:
    return next(kind for kind in phone.facts.kinds() if kind.__name__ == "Note")


def test_popups_come_at_the_rate_that_was_set_and_go_when_declined() -> None:
    shown = Phone(5, Drift(popup_rate=1.0))
    shown.perform(OpenApp("Notes"))
    assert shown.state.popup
    assert all(e.window in ("popup", "system") for e in shown.elements())
    never = Phone(5, Drift(popup_rate=0.0))
    for name in ("Notes", "Settings", "Notes"):
        never.perform(OpenApp(name))
        assert never.state.popup is None


def test_phones_of_different_seeds_look_different_and_without_drift_alike() -> None:
    drifted = {Phone(seed).frame().tobytes() for seed in range(8)}
    assert len(drifted) == 8
    looks = set()
    for seed in range(4):
        settings = Phone(seed, NO_DRIFT).facts.one(SystemSettings)
        looks.add((settings.accent, settings.dark_mode, settings.wallpaper, settings.font_scale))
    assert len(looks) == 1


def test_the_hierarchy_reads_like_uiautomators(phone: Phone) -> None:
    phone.perform(OpenApp("Notes"))
    root = ET.fromstring(uiautomator_xml(phone.elements(), "org.distrl.notes"))
    nodes = root.findall("node")
    assert len(nodes) == len(phone.elements())
    fields = [node for node in nodes if node.get("class") == "android.widget.EditText"]
    assert fields[0].get("content-desc") == "Search notes"
    for node in nodes:
        match = re.fullmatch(r"\[(\d+),(\d+)\]\[(\d+),(\d+)\]", node.get("bounds") or "")
        assert match
        left, top, right, bottom = map(int, match.groups())
        assert 0 <= left < right <= WIDTH
        assert 0 <= top < bottom <= HEIGHT


def test_enter_submits_the_focused_field_only(phone: Phone, finger: Finger) -> None:
    phone.perform(OpenApp("Notes"))
    phone.perform(Enter())
    assert phone.state.front == "Notes"
    finger.tap("Search notes", "field")
    phone.perform(TypeText("zzzz"))
    phone.perform(Enter())
    assert "No notes" in finger.labels
    assert phone.state.focus is None


def test_phones_that_share_a_canvas_show_what_each_shows_alone() -> None:
    def frames(phone: Phone) -> Iterator[bytes]:
        for app in ("Settings", "Clock", "Notes"):
            phone.perform(OpenApp(app))
            yield phone.frame().tobytes()

    alone = [list(frames(Phone(seed))) for seed in (1, 2)]
    one, two = Phone(1), Phone(2)
    together = list(zip(frames(one), frames(two), strict=True))
    assert [list(each) for each in zip(*together, strict=True)] == alone
    assert one.frame().tobytes() == alone[0][-1]  # drawn again: the other has drawn since
