"""Profiles of phones by maker: how they differ for adb.

A `HandsetProfile` is given to a `Handset` and never changes: the names of the phone and its apps,
the size of its screen and of the panel behind it, its latencies, and how often `uiautomator` fails
at first. Latencies are drawn from a random stream named after the phone and its seed.
`PROFILES` has presets by the names that `distrl phone serve --profile` takes. Packages and models
are those that Samsung and Xiaomi ship; sizes, times and their spread were set by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from distrl.bounds import Bounds, check_bounds
from distrl.errors import InvalidSetting
from phonesim.adb_daemon.android_names import own_package
from phonesim.display import STANDARD, Display
from phonesim.latency import ZERO, LogNormal
from phonesim.state import LAUNCHER


@dataclass(frozen=True, slots=True)
class Panel:
    """The physical pixels of a screen, if Android draws fewer: `wm size` prints both."""

    width: int
    height: int
    dots_per_inch: int


@dataclass(frozen=True, slots=True)
class HandsetProfile:
    """How a phone appears over adb.

    A `hardware` other than "simulated" is taken for a handset (or, as "ranchu", an emulator).
    """

    manufacturer: str = "DistRL"
    brand: str = "distrl"
    model: str = "DistRL Phone"
    product: str = "distrl"
    device: str = "simulated"
    hardware: str = "simulated"
    packages: Mapping[str, str] = field(default_factory=dict)  # of apps; others: com.distrl.NAME
    keyboard: str = "com.distrl.keyboard/.KeyboardService"
    display: Display = STANDARD
    panel: Panel | None = None  # None: the display is drawn at the panel's own size
    launch: LogNormal = ZERO  # from the start of an app that does not run until it is drawn
    input: LogNormal = ZERO  # before `input` does anything: on a phone it is a Java program
    screencap: LogNormal = ZERO
    uiautomator: LogNormal = ZERO
    restless_dumps: Annotated[
        int, Bounds(0, 10**9, "dumps after a reset that find no idle state")
    ] = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        if len(set(self.packages.values())) < len(self.packages):
            raise InvalidSetting(f"packages={dict(self.packages)}; each app has one of its own")

    def package_of(self, app: str) -> str:
        return self.packages.get(app) or own_package(app)

    def delay_of(self, program: str) -> LogNormal:
        """Return the time until a program of the shell has started; most start at once."""
        known = {
            "input": self.input,
            "screencap": self.screencap,
            "uiautomator": self.uiautomator,
        }
        return known.get(program, ZERO)


PLAIN = HandsetProfile()
SAMSUNG = HandsetProfile(
    manufacturer="samsung",
    brand="samsung",
    model="SM-S918B",
    product="dm3qxxx",
    device="dm3q",
    packages={
        LAUNCHER: "com.sec.android.app.launcher",
        "Browser": "com.sec.android.app.sbrowser",
        "Calculator": "com.sec.android.app.popupcalculator",
        "Calendar": "com.samsung.android.calendar",
        "Clock": "com.sec.android.app.clockpackage",
        "Contacts": "com.samsung.android.app.contacts",
        "Files": "com.sec.android.app.myfiles",
        "Gallery": "com.sec.android.gallery3d",
        "Mail": "com.samsung.android.email.provider",
        "Maps": "com.google.android.apps.maps",
        "Messages": "com.samsung.android.messaging",
        "Music": "com.sec.android.app.music",
        "Notes": "com.samsung.android.app.notes",
        "Phone": "com.samsung.android.dialer",
        "Settings": "com.android.settings",
        "Store": "com.sec.android.app.samsungapps",
        "To-do": "com.samsung.android.app.reminder",
        "Weather": "com.sec.android.daemonapp",
    },
    keyboard="com.samsung.android.honeyboard/.service.HoneyBoardService",
    display=Display(1080, 2316, 3),
    panel=Panel(1440, 3088, 600),  # Samsung's largest panels come set to fewer pixels
)
XIAOMI = HandsetProfile(
    manufacturer="Xiaomi",
    brand="Redmi",
    model="23049RAD8C",
    product="marble",
    device="marble",
    packages={
        LAUNCHER: "com.miui.home",
        "Browser": "com.mi.globalbrowser",
        "Calculator": "com.miui.calculator",
        "Calendar": "com.android.calendar",
        "Clock": "com.android.deskclock",
        "Contacts": "com.android.contacts",
        "Files": "com.mi.android.globalFileexplorer",
        "Gallery": "com.miui.gallery",
        "Mail": "com.android.email",
        "Maps": "com.google.android.apps.maps",
        "Messages": "com.android.mms",
        "Music": "com.miui.player",
        "Notes": "com.miui.notes",
        "Phone": "com.google.android.dialer",
        "Settings": "com.android.settings",
        "Store": "com.xiaomi.mipicks",
        "Weather": "com.miui.weather2",
    },
    keyboard="com.google.android.inputmethod.latin/.LatinIME",
    display=Display(1080, 2400, 3),
)
SLOW = HandsetProfile(
    model="DistRL Phone, slow",
    launch=LogNormal(1.5, 0.5, cap=4.0),
    input=LogNormal(0.5, 0.3, cap=2.0),
    screencap=LogNormal(0.4, 0.3, cap=2.0),
    uiautomator=LogNormal(1.0, 0.3, cap=4.0),
    restless_dumps=1,
)
PROFILES = {"plain": PLAIN, "samsung": SAMSUNG, "xiaomi": XIAOMI, "slow": SLOW}


def named_profile(name: str) -> HandsetProfile:
    if name not in PROFILES:
        raise InvalidSetting(f"no profile called {name!r:.40}; there are {', '.join(PROFILES)}")
    return PROFILES[name]


def changed_profile(
    profile: HandsetProfile,
    *,
    display: Display | None = None,
    launch_seconds: float | None = None,
    input_seconds: float | None = None,
    screencap_seconds: float | None = None,
    restless_dumps: int | None = None,
) -> HandsetProfile:
    """Return the profile with the given values replaced; given seconds are fixed, not drawn."""
    if display is not None:
        profile = replace(profile, display=display, panel=None)
    if launch_seconds is not None:
        profile = replace(profile, launch=LogNormal(launch_seconds))
    if input_seconds is not None:
        profile = replace(profile, input=LogNormal(input_seconds))
    if screencap_seconds is not None:
        profile = replace(profile, screencap=LogNormal(screencap_seconds))
    if restless_dumps is not None:
        profile = replace(profile, restless_dumps=restless_dumps)
    return profile
