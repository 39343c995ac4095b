"""`settings`: Android's names for the phone's own settings, and a table for all others.

Settings for which the phone has a fact read and write that fact, so that a judge sees changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import NOTHING, Command, Refusal, Result, lines
from phonesim.system import SystemSettings, switch

NAMESPACES = ("system", "secure", "global")
MAX_SETTINGS = 1000
LONGEST = 4096  # characters of a value


@dataclass(frozen=True, slots=True)
class FactSetting:
    """A setting stored as a fact: its field, and the conversions to and from Android's text."""

    field: str
    show: Callable[[object], str]
    read: Callable[[str], object | None]  # None: not a valid value


def _switch(field: str, on: str = "1") -> FactSetting:
    values = {on: True, "0": False}
    return FactSetting(field, lambda value: on if value else "0", values.get)


def _scaled(field: str, most: int) -> FactSetting:
    def read(text: str) -> float | None:
        return int(text) / most if re.fullmatch(r"[0-9]{1,9}", text) and int(text) <= most else None

    return FactSetting(field, lambda value: str(round(float(str(value)) * most)), read)


def _minutes(field: str) -> FactSetting:
    def read(text: str) -> int | None:
        return max(int(text) // 60_000, 1) if re.fullmatch(r"[0-9]{4,8}", text) else None

    return FactSetting(field, lambda value: str(int(str(value)) * 60_000), read)


def _scale(field: str) -> FactSetting:
    def read(text: str) -> float | None:
        fits = re.fullmatch(r"[0-9](\.[0-9]{1,4})?", text)
        return float(text) if fits and 0.5 <= float(text) <= 2.0 else None

    return FactSetting(field, str, read)


def _hours() -> FactSetting:
    return FactSetting("use_24_hour", lambda v: "24" if v else "12", {"24": True, "12": False}.get)


FACTS: dict[tuple[str, str], FactSetting] = {
    ("global", "airplane_mode_on"): _switch("airplane_mode"),
    ("global", "wifi_on"): _switch("wifi"),
    ("global", "bluetooth_on"): _switch("bluetooth"),
    ("global", "mobile_data"): _switch("mobile_data"),
    ("global", "data_roaming"): _switch("roaming"),
    ("global", "zen_mode"): _switch("do_not_disturb"),
    ("global", "low_power"): _switch("battery_saver"),
    ("global", "auto_time"): _switch("automatic_time"),
    ("global", "adb_enabled"): _switch("usb_debugging"),
    ("global", "development_settings_enabled"): _switch("developer_options"),
    ("global", "stay_on_while_plugged_in"): _switch("stay_awake"),
    ("system", "screen_brightness"): _scaled("brightness", 255),
    ("system", "screen_brightness_mode"): _switch("auto_brightness"),
    ("system", "screen_off_timeout"): _minutes("screen_timeout_minutes"),
    ("system", "accelerometer_rotation"): _switch("auto_rotate"),
    ("system", "font_scale"): _scale("font_scale"),
    ("system", "time_12_24"): _hours(),
    ("system", "vibrate_when_ringing"): _switch("vibrate_on_ring"),
    ("system", "volume_music"): _scaled("media_volume", 15),
    ("system", "volume_ring"): _scaled("ring_volume", 15),
    ("system", "volume_alarm"): _scaled("alarm_volume", 15),
    ("secure", "location_mode"): _switch("location", on="3"),
    ("secure", "ui_night_mode"): FactSetting(
        "dark_mode", lambda v: "2" if v else "1", {"2": True, "1": False}.get
    ),
    ("secure", "night_display_activated"): _switch("night_light"),
    ("secure", "accessibility_display_inversion_enabled"): _switch("color_inversion"),
}
FIXED: dict[tuple[str, str], str] = {
    ("global", "device_provisioned"): "1",
    ("global", "window_animation_scale"): "1.0",
    ("global", "transition_animation_scale"): "1.0",
    ("global", "animator_duration_scale"): "1.0",
    ("secure", "user_setup_complete"): "1",
    ("system", "user_rotation"): "0",
}


def value_of(handset: Handset, namespace: str, key: str) -> str | None:
    place = (namespace, key)
    if place in FACTS:
        fact = FACTS[place]
        return fact.show(getattr(handset.phone.facts.one(SystemSettings), fact.field))
    if place == ("secure", "default_input_method"):
        return handset.input_method
    if place == ("secure", "enabled_input_methods"):
        return ":".join(handset.input_methods)
    return handset.settings.get(place, FIXED.get(place))


def put(handset: Handset, namespace: str, key: str, value: str) -> None:
    place = (namespace, key)
    fact = FACTS.get(place)
    if fact is None:
        full = len(handset.settings) >= MAX_SETTINGS and place not in handset.settings
        if full or len(key) + len(value) > LONGEST:
            raise Refusal("Error: settings are full, or this one is too long")
        handset.settings[place] = value
        return
    read = fact.read(value)
    if read is None:
        raise Refusal(f"Error: {namespace} {key} cannot be {value[:40]!r}")
    change(handset, fact.field, read)


def change(handset: Handset, field: str, value: object) -> None:
    """Change a fact of the phone's settings, and the settings that a phone switches with it."""
    handset.changing()
    if isinstance(value, bool):
        switch(handset.phone.facts, field, value)
    else:
        handset.phone.facts.change(SystemSettings, **{field: value})
    handset.phone.refresh()


def settings(handset: Handset, words: Sequence[str], given: bytes) -> Result:
    rest = list(words)
    while "--user" in rest:
        place = rest.index("--user")
        del rest[place : place + 2]
    if len(rest) < 2 or rest[1] not in NAMESPACES:
        raise Refusal("Error: settings (get|put|delete|list|reset) (system|secure|global) …", 255)
    match rest:
        case ["get", namespace, key]:
            return lines(value_of(handset, namespace, key) or "null")
        case ["put", namespace, key, value, *_]:
            put(handset, namespace, key, value)
            return NOTHING
        case ["delete", namespace, key]:
            gone = handset.settings.pop((namespace, key), None)
            return lines(f"Deleted {0 if gone is None else 1} rows")
        case ["list", namespace]:
            known = {*FACTS, *FIXED, *handset.settings}
            keys = sorted(key for space, key in known if space == namespace)
            return lines(*(f"{key}={value_of(handset, namespace, key)}" for key in keys))
        case ["reset", namespace, *_]:
            for name in [name for name in handset.settings if name[0] == namespace]:
                del handset.settings[name]
            return NOTHING
    raise Refusal(f"Error: bad arguments: settings {' '.join(rest)[:80]}", 255)


COMMANDS: dict[str, Command] = {"settings": settings}
