"""A page keeps the contract of a device: what a finger does, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.devices.browser.pages import BUTTON, FIELD, LINK, write_page

from distrl.devices.browser.browser_device import BrowserDevice
from distrl.errors import ActionFailed, DeviceNotReady, PageUnreachable
from distrl.records import Back, Done, Enter, Home, OpenApp, Swipe, Tap, TypeText
from distrl.task_sets.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def opened(device: BrowserDevice, url: str) -> None:
    device.reset(0)
    device.open(url)


def test_it_must_be_reset_first(device: BrowserDevice) -> None:
    with pytest.raises(DeviceNotReady):
        device.screen()


def test_a_finger_taps_types_and_scrolls(device: BrowserDevice, folder: Path, site: str) -> None:
    write_page(folder, "button", "document.title = 'done'")
    opened(device, f"{site}/button.html")
    first = device.screen()
    assert (first.width, first.height) == (360, 720)
    device.perform(BUTTON)
    assert device.evaluate("document.title") == "done"
    device.perform(FIELD)
    typed = device.perform(TypeText("Zoë 9"))
    assert device.evaluate("document.getElementById('field').value") == "Zoë 9"
    assert typed.digest != first.digest
    device.perform(Swipe(0.5, 0.8, 0.5, 0.3))
    assert 300 <= float(str(device.evaluate("scrollY"))) <= 370  # as far as the finger moved


def test_what_is_only_said_costs_nothing(device: BrowserDevice, site: str) -> None:
    opened(device, f"{site}/plain.html")
    before = device.screen()
    assert device.perform(Done()).digest == before.digest


def test_a_reset_leaves_nothing(device: BrowserDevice, site: str) -> None:
    opened(device, f"{site}/plain.html")
    first = device.screen().digest
    device.evaluate("localStorage.setItem('a', '1'), document.cookie = 'b=2'")
    device.perform(FIELD)
    assert device.perform(TypeText("mine")).digest != first
    opened(device, f"{site}/plain.html")
    assert device.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    assert device.screen().digest == first


def test_back_goes_no_further_than_the_task(device: BrowserDevice, folder: Path, site: str) -> None:
    write_page(folder, "linked", link="plain.html", extra="target=_blank")
    opened(device, f"{site}/linked.html")
    device.perform(LINK)
    assert device.evaluate("document.title") == "plain"  # in the same window
    device.perform(Back())
    assert device.evaluate("document.title") == "linked"
    with pytest.raises(ActionFailed, match="no page to go back to"):
        device.perform(Back())
    device.perform(LINK)
    device.perform(Home())
    assert device.evaluate("document.title") == "linked"
    with pytest.raises(ActionFailed, match="no apps"):
        device.perform(OpenApp("Notes"))
    assert device.screen().width == 360  # and it is still usable


def test_the_elements_are_what_a_person_sees(device: BrowserDevice, site: str) -> None:
    opened(device, f"{site}/plain.html")
    found = {(element.role, element.text): element for element in device.elements()}
    assert found["button", "Do it"].bounds == (10, 10, 210, 60)
    assert found["link", "Go there"].clickable
    assert found["checkbox", "Agree"].checked is False
    assert ("text", "The end") not in found  # below the screen
    x, y = found["checkbox", "Agree"].centre
    device.perform(Tap(x / 360, y / 720))
    device.perform(FIELD)
    device.perform(TypeText("Ann"))
    found = {(element.role, element.text): element for element in device.elements()}
    assert found["checkbox", "Agree"].checked is True
    assert found["field", "Name"].value == "Ann"
    assert found["field", "Name"].focused


def test_other_origins_are_out_of_reach(device: BrowserDevice, folder: Path, site: str) -> None:
    with PageServer(folder) as other:
        ask = f"fetch('{other.url}/plain.html', {{mode: 'no-cors'}}).then(() => 'got', () => 'no')"
        write_page(folder, "leaving", link=f"{other.url}/plain.html")
        opened(device, f"{site}/leaving.html")
        assert device.evaluate(ask) == "no"
        with pytest.raises(ActionFailed, match="not among the allowed origins"):
            device.perform(LINK)
        assert device.evaluate("document.title") == "leaving"
        with pytest.raises(PageUnreachable):
            device.open(f"{other.url}/plain.html")


def test_downloads_are_refused(device: BrowserDevice, folder: Path, site: str) -> None:
    (folder / "file.bin").write_bytes(bytes(1000))
    write_page(folder, "download", link="file.bin")
    opened(device, f"{site}/download.html")
    with pytest.raises(ActionFailed, match="download"):
        device.perform(LINK)
    assert device.evaluate("document.title") == "download"


def test_a_page_that_is_not_there_is_an_error(device: BrowserDevice, site: str) -> None:
    device.reset(0)
    with pytest.raises(PageUnreachable, match="404"):
        device.open(f"{site}/nothing.html")


def test_dialogs_are_seen_and_answered(device: BrowserDevice, folder: Path, site: str) -> None:
    write_page(folder, "asking", "window.said = [confirm('Sure?'), prompt('Name?', 'Bob')]")
    opened(device, f"{site}/asking.html")
    before = device.screen()
    asked = device.perform(BUTTON)
    assert asked.digest != before.digest
    assert [each.text for each in device.elements()] == ["Sure?", "Cancel", "OK"]
    device.perform(FIELD)  # below the dialog: nothing happens
    x, y = device.elements()[1].centre
    device.perform(Tap(x / 360, y / 720))
    device.perform(TypeText("by"))
    assert device.elements()[1].value == "Bobby"
    device.perform(Enter())
    assert device.evaluate("window.said") == [False, "Bobby"]
    assert [each.window for each in device.elements()] == ["app"] * len(device.elements())


def test_the_list_of_a_select_is_in_the_page(
    device: BrowserDevice, folder: Path, site: str
) -> None:
    options = "".join(f"<option>{name}</option>" for name in ("Ann", "Ben", "Cleo"))
    (folder / "select.html").write_text(
        "<meta name=viewport content='width=device-width'>"
        f"<select id=s onchange='document.title = value' style='font-size:30px'>{options}</select>"
    )
    opened(device, f"{site}/select.html")
    [field] = [each for each in device.elements() if each.role == "field"]
    tap = Tap(field.centre[0] / 360, field.centre[1] / 720)
    closed = device.screen().digest
    assert device.perform(tap).digest != closed
    listed = {each.text: each for each in device.elements() if each.role == "option"}
    assert list(listed)[-3:] == ["Ann", "Ben", "Cleo"]
    x, y = listed["Cleo"].centre
    device.perform(Tap(x / 360, y / 720))
    assert device.evaluate("[document.title, document.getElementById('s').value]") == ["Cleo"] * 2
    assert not [each for each in device.elements() if each.text == "Ben"]


@pytest.mark.parametrize("field", ["<input type=date>", "<input type=color>", "<select></select>"])
@pytest.mark.parametrize("typed", [TypeText(" "), Enter()])
def test_no_key_opens_a_window_of_the_system(
    device: BrowserDevice, folder: Path, site: str, field: str, typed: TypeText | Enter
) -> None:
    """None is drawn, and a page that waits for one hangs."""
    (folder / "picked.html").write_text(field)
    opened(device, f"{site}/picked.html")
    device.evaluate("document.querySelector('input, select').focus()")
    device.perform(typed)
    assert device.screen().pixels.shape == (720, 360, 3)


def test_a_key_opens_the_list_of_a_select_and_closes_it(
    device: BrowserDevice, folder: Path, site: str
) -> None:
    (folder / "keys.html").write_text("<select><option>Ann<option>Ben</select>")
    opened(device, f"{site}/keys.html")
    device.evaluate("document.querySelector('select').focus()")
    for count in (1, 0):
        device.perform(TypeText(" "))
        assert device.evaluate("document.querySelectorAll('[role=listbox]').length") == count
