"""What a real phone dumps is read as elements, and nonsense is an error."""

from __future__ import annotations

import pytest

from distrl.devices.adb.uiautomator import read_hierarchy
from distrl.errors import CommandRefused
from distrl.hierarchy import Element
from phonesim.hierarchy_xml import uiautomator_xml
from phonesim.simulated_device import SimulatedDevice

# From the layout of Android 13's clock, shortened.
REAL = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">
<node index="0" text="" resource-id="" class="android.widget.FrameLayout"
 package="com.google.android.deskclock" content-desc="" checkable="false" checked="false"
 clickable="false" enabled="true" focusable="false" focused="false" scrollable="false"
 long-clickable="false" password="false" selected="false" bounds="[0,0][1080,2400]">
<node index="0" text="" class="androidx.recyclerview.widget.RecyclerView" content-desc=""
 package="com.google.android.deskclock" scrollable="true" bounds="[0,300][1080,2000]">
<node index="0" text="8:30&#8239;AM" class="android.widget.TextView" content-desc="Alarm &amp; bell"
 package="com.google.android.deskclock" clickable="true" bounds="[40,320][400,480]" />
<node index="1" text="" class="android.widget.Switch" content-desc="8:30 alarm" checkable="true"
 package="com.google.android.deskclock" checked="true" clickable="true" long-clickable="true"
 enabled="false" bounds="[900,320][1040,480]" />
<node index="2" text="" class="android.view.View" bounds="[0,0][0,0]" />
</node></node>
<node index="1" text="7" class="android.widget.EditText" content-desc="Hours" focused="true"
 package="com.google.android.deskclock" bounds="[0,2000][200,2100]" />
<node index="2" text="q" class="android.widget.TextView" bounds="[0,2100][100,2200]"
 package="com.google.android.inputmethod.latin" />
</hierarchy>UI hierchary dumped to: /dev/tty
"""


def test_a_dump_of_a_real_phone() -> None:
    frame, listing, time, switch, field, key = read_hierarchy(REAL, "phone")
    assert (frame.role, frame.bounds) == ("row", (0, 0, 1080, 2400))
    assert (listing.role, listing.scrollable) == ("scroll", True)
    assert (time.text, time.detail, time.clickable) == ("8:30\u202fAM", "Alarm & bell", True)
    assert (switch.text, switch.checked, switch.enabled) == ("8:30 alarm", True, False)
    assert switch.holdable
    assert (field.role, field.text, field.value, field.focused) == ("field", "Hours", "7", True)
    assert (key.window, frame.window) == ("keyboard", "app")


def test_our_own_dumps_are_read_back() -> None:
    elements = (
        Element("field", "Title", (0, 0, 100, 20), value='a "b" <c> & ü', focused=True),
        Element("switch", "Wi-Fi", (0, 20, 100, 40), clickable=True, checked=False),
        Element("button", "Save", (0, 40, 100, 60), clickable=True, holdable=True, selected=True),
        Element("slider", "Volume", (0, 60, 100, 80), enabled=False),
    )
    assert read_hierarchy(uiautomator_xml(elements, "com.distrl.notes"), "phone") == elements


def test_every_label_of_the_simulated_phone_survives() -> None:
    with SimulatedDevice("phone") as device:
        device.reset(3)
        elements = device.elements()
    read = read_hierarchy(uiautomator_xml(elements, "com.distrl.home"), "phone")
    assert [e.bounds for e in read] == [e.bounds for e in elements]
    assert [e.text for e in read if e.text] == [
        e.text or e.detail for e in elements if e.text or e.detail
    ]


@pytest.mark.parametrize(
    ("dump", "said"),
    [
        ("ERROR: could not get idle state.", "could not get idle state"),
        ("", "no hierarchy"),
        ("<hierarchy rotation='0'><node ", "cut off"),
        ("<hierarchy><node></hierarchy>", "no XML"),
        ("<hierarchy><!ENTITY a 'b'></hierarchy>", "declarations"),
    ],
)
def test_what_is_no_dump_is_an_error(dump: str, said: str) -> None:
    with pytest.raises(CommandRefused, match=said):
        read_hierarchy(dump, "phone")


def test_an_empty_screen_has_no_elements() -> None:
    assert read_hierarchy('<hierarchy rotation="0" />', "phone") == ()
    assert read_hierarchy('<hierarchy rotation="0"></hierarchy>', "phone") == ()
