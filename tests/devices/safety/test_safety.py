"""On somebody's phone: nothing without consent, nothing outside the allow-list, no last steps.

The phone is a served one behind a real adb server; what must not happen is looked for on the phone
itself, in its facts and its screen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.devices.adb.served_phones import AT_ONCE_SETTINGS, ServedPhones, served_handsets

from distrl.devices.adb.adb_device import AdbDevice, new_simulation
from distrl.devices.adb.uiautomator import read_hierarchy
from distrl.devices.safety.safety import (
    HIDDEN,
    SENTENCE,
    Consent,
    SafeDevice,
    SafetySettings,
    consent_path,
    read_consent,
)
from distrl.errors import BlankScreen, ConsentMissing, InvalidSetting
from distrl.hierarchy import MAX_READ, Element
from distrl.records import Action, Back, Enter, Home, LongPress, OpenApp, Swipe, Tap, TypeText, Wait
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.handset_profile import HandsetProfile

SERIAL = "R5CT30"
APPS = ("com.distrl.settings", "com.distrl.messages", "com.distrl.notes")
SETTINGS = SafetySettings(apps=APPS)


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    """The second one's screen never rests."""
    restless = Handset("restless", profile=HandsetProfile(restless_dumps=10**9))
    with served_handsets([Handset("calm"), restless]) as served:
        yield served


def agreed() -> Consent:
    return Consent(SERIAL, "Ada", APPS)


def guarded(phones: ServedPhones, settings: SafetySettings = SETTINGS) -> SafeDevice:
    device = SafeDevice(phones.device(), settings, agreed)
    device.reset(5)
    return device


def state(phones: ServedPhones) -> tuple[str, int]:
    phone = phones.handset().phone
    return phone.state.front, phone.state.actions


def on(device: SafeDevice, text: str) -> Tap:
    screen = device.screen()
    [found, *_] = [each for each in device.elements() if text in (each.text, each.detail)]
    x, y = found.centre
    return Tap((x + 0.5) / screen.width, (y + 0.5) / screen.height)


def test_without_consent_the_phone_is_not_touched(phones: ServedPhones) -> None:
    def refused() -> Consent:
        raise ConsentMissing("nobody agreed")

    phones.handset().reset(3)
    before = state(phones)
    with SafeDevice(phones.device(), SETTINGS, refused) as device, pytest.raises(ConsentMissing):
        device.reset(5)
    assert state(phones) == before
    assert phones.handset().phone.state.seed == 3


def test_allowed_apps_are_used_freely(phones: ServedPhones) -> None:
    with guarded(phones) as device:
        device.perform(OpenApp("Settings"))
        assert phones.handset().phone.state.front == "Settings"
        before = state(phones)[1]
        device.perform(Swipe(0.5, 0.8, 0.5, 0.3))
        device.perform(Back())
        assert state(phones)[1] == before + 2
        assert device.stopped == []


@pytest.mark.parametrize("name", ["Mail", "com.distrl.phone", "Store"])
def test_other_apps_are_not_opened(phones: ServedPhones, name: str) -> None:
    with guarded(phones) as device:
        before = state(phones)
        seen = device.perform(OpenApp(name))
        assert state(phones) == before
        assert seen.digest == device.screen().digest
        assert "not on the allow-list" in device.stopped[0].why


def test_an_app_must_be_on_both_lists(phones: ServedPhones) -> None:
    settings = replace(SETTINGS, apps=(*APPS, "com.distrl.mail"))  # the owner did not agree to it
    with guarded(phones, settings) as device:
        device.perform(OpenApp("Mail"))
        assert state(phones)[0] != "Mail"


@pytest.mark.parametrize("action", [Tap(0.5, 0.5), TypeText("hello"), Swipe(0.5, 0.8, 0.5, 0.2)])
def test_in_another_app_nothing_is_touched_but_back_and_home_work(
    phones: ServedPhones, action: Action
) -> None:
    with guarded(phones) as device:
        phones.handset().open_app("Mail")  # by its owner
        before = state(phones)
        device.perform(action)
        assert state(phones) == before
        assert "com.distrl.mail, is not on the allow-list" in device.stopped[0].why
        device.perform(Home())
        assert state(phones)[0] != "Mail"


def test_a_way_out_of_the_allowed_apps_is_closed_at_once(phones: ServedPhones) -> None:
    with guarded(phones) as device:
        icon = on(device, "Mail")
        device.perform(icon)  # on the home screen, which is allowed
        assert state(phones)[0] != "Mail"
        assert "gone home" in device.stopped[0].why


def test_send_is_not_tapped(phones: ServedPhones) -> None:
    with guarded(phones) as device:
        device.perform(OpenApp("Messages"))
        chat = next(e for e in device.elements() if e.role == "row" and e.clickable)
        screen = device.screen()
        device.perform(Tap(chat.centre[0] / screen.width, chat.centre[1] / screen.height))
        field = next(e for e in device.elements() if e.role == "field")
        device.perform(Tap(field.centre[0] / screen.width, field.centre[1] / screen.height))
        device.perform(TypeText("hello"))
        assert phones.handset().text == "hello"
        before = state(phones)
        send = on(device, "Send")
        for action in (send, LongPress(send.x, send.y), Enter(), TypeText("more\n")):
            device.perform(action)
        assert state(phones) == before
        assert phones.handset().text == "hello"
        assert len(device.stopped) == 4
        assert "'send' is blocked" in device.stopped[0].why
        assert "hello" not in str(device.stopped)
        assert "more" not in str(device.stopped)


# As Android has them: rows are clickable and say nothing, the text on them is small and is not. The
# third row has a button of its own on it, and so has the fourth, whose button says nothing.
ROWS = """<hierarchy rotation="0">
<node class="android.widget.FrameLayout" clickable="true" bounds="[0,0][360,720]">
 <node class="android.widget.LinearLayout" clickable="true" bounds="[0,0][360,100]">
  <node class="android.widget.TextView" text="Erase all data (factory reset)"
   bounds="[20,20][90,40]" />
 </node>
 <node class="android.widget.LinearLayout" clickable="true" bounds="[0,100][360,200]">
  <node class="android.widget.LinearLayout" bounds="[20,110][90,190]">
   <node class="android.widget.TextView" text="Ada" bounds="[20,110][90,130]" />
   <node class="android.widget.TextView" text="Delete" bounds="[20,160][90,180]" />
  </node>
 </node>
 <node class="android.widget.LinearLayout" clickable="true" bounds="[0,200][360,300]">
  <node class="android.widget.TextView" text="Ada" bounds="[20,210][90,230]" />
  <node class="android.widget.FrameLayout" clickable="true" bounds="[260,200][300,300]">
   <node class="android.widget.TextView" text="Details" bounds="[260,240][290,260]" />
  </node>
  <node class="android.widget.FrameLayout" clickable="true" bounds="[300,200][360,300]">
   <node class="android.widget.TextView" text="Delete" bounds="[310,240][330,260]" />
  </node>
 </node>
 <node class="android.widget.LinearLayout" clickable="true" bounds="[0,300][360,400]">
  <node class="android.widget.TextView" text="Auto restart" bounds="[20,310][90,330]" />
  <node class="android.widget.Switch" checkable="true" clickable="true"
   bounds="[300,300][360,400]" />
 </node>
</node></hierarchy>"""


class NestingPhone(AdbDevice):
    """A served phone with the hierarchy of another."""

    dump = ROWS

    def elements(self) -> tuple[Element, ...]:
        return read_hierarchy(self.dump, self.name)


@pytest.mark.parametrize(
    ("x", "y", "word"),
    [
        (330, 50, "erase"),  # at the edge of the row
        (180, 150, "delete"),  # in the middle of one
        (180, 250, ""),  # "Delete" is another button's
        (270, 290, ""),  # "Details"
        (320, 290, "delete"),  # at the edge of that button
        (330, 380, "restart"),  # a switch without a label is its row's
        (180, 600, ""),  # the page behind all rows
    ],
)
def test_a_row_is_what_stands_on_it(phones: ServedPhones, x: int, y: int, word: str) -> None:
    phone = NestingPhone("phone", phones.link(), AT_ONCE_SETTINGS, new_simulation)
    with SafeDevice(phone, SETTINGS, agreed) as device:
        device.reset(5)
        device.perform(OpenApp("Settings"))
        before = state(phones)[1]
        device.perform(Tap((x + 0.5) / 360, (y + 0.5) / 720))
        assert state(phones)[1] - before == (0 if word else 1)
        assert [f"{word!r} is blocked" in each.why for each in device.stopped] == [True] * bool(
            word
        )


@pytest.mark.parametrize(("x", "done"), [(330, True), (40, False)])
def test_a_list_is_scrolled_by_the_empty_end_of_a_row(
    phones: ServedPhones, x: int, done: bool
) -> None:
    phone = NestingPhone("phone", phones.link(), AT_ONCE_SETTINGS, new_simulation)
    with SafeDevice(phone, SETTINGS, agreed) as device:
        device.reset(5)
        device.perform(OpenApp("Settings"))
        before = state(phones)[1]
        device.perform(Swipe((x + 0.5) / 360, 321 / 720, (x + 0.5) / 360, 0.1))
        assert state(phones)[1] - before == done
        assert len(device.stopped) == (not done)


def test_a_page_with_too_much_on_it_is_not_touched(phones: ServedPhones) -> None:
    phone = NestingPhone("phone", phones.link(), AT_ONCE_SETTINGS, new_simulation)
    view = '<node class="android.view.View" clickable="true" bounds="[0,0][360,720]" />'
    phone.dump = f"<hierarchy>{view * (MAX_READ + 1)}</hierarchy>"
    with SafeDevice(phone, SETTINGS, agreed) as device:
        device.reset(5)
        before = state(phones)
        device.perform(Tap(0.5, 0.5))
        assert state(phones) == before
        assert f"{MAX_READ + 1} elements" in device.stopped[-1].why


def test_a_dry_run_does_nothing_and_records_everything(
    phones: ServedPhones, tmp_path: Path
) -> None:
    record = tmp_path / "record" / "stopped.jsonl"
    settings = replace(SETTINGS, dry_run=True, record=str(record))
    with guarded(phones, settings) as device:
        before = state(phones)
        for action in (Tap(0.5, 0.5), Home(), OpenApp("Settings"), Wait(0.0)):
            device.perform(action)
        assert state(phones) == before
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["action"] for line in lines][1:3] == ["Home()", "OpenApp(name='Settings')"]
    assert {line["why"] for line in lines} == {"this is a dry run"}


def test_a_dry_run_does_not_even_reset(phones: ServedPhones) -> None:
    """No key, no app stopped or cleared, no keyboard set: as it lies there."""
    handset = phones.handset()
    handset.reset(3)
    handset.open_app("Notes")
    keyboard, before = handset.input_method, state(phones)
    resets: list[int] = []
    device = AdbDevice(
        "phone", phones.link(), AT_ONCE_SETTINGS, lambda shell, seed: resets.append(seed)
    )
    with SafeDevice(device, replace(SETTINGS, dry_run=True), agreed) as guarded:
        guarded.reset(5)
        assert guarded.screen().pixels.any()
        assert guarded.elements()
        assert handset.files.names("/data/local/tmp") == []
        assert (state(phones), handset.input_method, resets) == (before, keyboard, [])
        handset.awake = False
        with pytest.raises(BlankScreen):
            guarded.reset(5)
        assert not handset.awake
    handset.awake = True


def test_where_labels_cannot_be_read_nothing_is_tapped_and_the_episode_goes_on(
    phones: ServedPhones,
) -> None:
    phone = phones.handset(1).phone
    with SafeDevice(phones.device(1), SETTINGS, agreed) as device:
        device.reset(5)
        device.perform(OpenApp("Settings"))
        before = phone.state.actions
        device.perform(Tap(0.5, 0.5))
        assert (phone.state.front, phone.state.actions) == ("Settings", before)
        assert "could not be read" in device.stopped[-1].why
        device.perform(Home())
        assert phone.state.front != "Settings"


def test_the_shade_is_closed_at_once_and_nothing_in_it_is_tapped(phones: ServedPhones) -> None:
    with guarded(phones) as device:
        device.perform(OpenApp("Settings"))
        device.perform(Swipe(0.5, 0.0, 0.5, 0.6))
        assert phones.handset().phone.state.overlay != "shade"
        assert "com.android.systemui" in device.stopped[-1].why
        phones.handset().perform(Swipe(0.5, 0.0, 0.5, 0.6))  # by its owner
        assert phones.handset().phone.state.overlay == "shade"
        before = state(phones)
        device.perform(Tap(0.5, 0.3))
        assert state(phones) == before
        assert "com.android.systemui, is not on the allow-list" in device.stopped[-1].why


def test_private_regions_are_black_and_their_labels_hidden(phones: ServedPhones) -> None:
    settings = replace(SETTINGS, redact=((0.0, 0.0, 1.0, 0.5),))
    with guarded(phones, settings) as device:
        bare = device.device.screen().pixels
        for screen in (device.screen(), device.perform(Home())):
            assert not screen.pixels[:360].any()
            assert np.array_equal(screen.pixels[360:], bare[360:])
        labels = [(each.bounds[1], each.text) for each in device.elements()]
        assert all(text == HIDDEN for top, text in labels if top < 360)
        assert any(text not in ("", HIDDEN) for top, text in labels if top >= 360)


def test_regions_that_make_no_sense_are_refused() -> None:
    for region in ((0.5, 0.0, 0.4, 1.0), (0.0, 0.0, 2.0, 1.0), (0.0, 0.0, 1.0)):
        with pytest.raises(InvalidSetting, match="left, top, right, bottom"):
            SafetySettings(redact=(region,))  # type: ignore[arg-type]


# Consent -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISTRL_CONSENT", str(tmp_path))
    return tmp_path


def write(folder: Path, serial: str = SERIAL, sentence: str = SENTENCE, apps: str = "[]") -> None:
    text = f'serial = "{serial}"\nowner = "Ada"\nsentence = "{sentence}"\napps = {apps}\n'
    (folder / f"{SERIAL}.toml").write_text(text)


def test_consent_is_read(folder: Path) -> None:
    write(folder, apps='["com.distrl.notes"]')
    assert read_consent(SERIAL) == Consent(SERIAL, "Ada", ("com.distrl.notes",))


def test_no_consent_says_what_to_write_and_where(folder: Path) -> None:
    with pytest.raises(ConsentMissing, match=f"{SERIAL}.*no such file.*{SENTENCE}"):
        read_consent(SERIAL)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"serial": "another"}, "names the phone 'another'"),
        ({"sentence": "ok"}, "sentence"),
        ({"apps": '"all"'}, "no list"),
        ({"apps": "[1]"}, "no list"),
        ({"apps": "["}, "cannot be read"),
        ({"apps": "[" * 100_000}, "cannot be read: it is nested too deeply"),
        ({"apps": "1" * 5_000}, "cannot be read"),
        ({"apps": f"['{'a' * 2_000_000}']"}, "cannot be read: it has more than"),
    ],
)
def test_consent_that_does_not_hold(folder: Path, changes: dict[str, str], why: str) -> None:
    write(folder, **changes)
    with pytest.raises(ConsentMissing, match=why):
        read_consent(SERIAL)


def test_a_serial_is_no_path(folder: Path) -> None:
    assert consent_path("../../etc/passwd").parent == folder
    assert consent_path("127.0.0.1:5555").name == "127.0.0.1_5555.toml"


def test_a_device_stays_reachable_for_its_owner(phones: ServedPhones) -> None:
    with guarded(phones) as device:
        assert isinstance(device.device, AdbDevice)
        assert device.seconds == device.device.seconds
