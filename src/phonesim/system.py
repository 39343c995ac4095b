"""Facts of the phone itself: its settings, its installed apps, its notifications."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from phonesim.facts import Facts


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """Every system setting, as the user left it."""

    SINGLE: ClassVar[bool] = True
    id: int = 0
    wifi: bool = True
    wifi_network: str = "HomeNet"
    bluetooth: bool = False
    mobile_data: bool = True
    airplane_mode: bool = False
    hotspot: bool = False
    nfc: bool = False
    location: bool = True
    do_not_disturb: bool = False
    battery_saver: bool = False
    dark_mode: bool = False
    auto_rotate: bool = False
    auto_brightness: bool = False
    flashlight: bool = False
    accent: str = "blue"
    font_scale: float = 1.0
    wallpaper: str = "dunes"
    brightness: float = 0.6
    media_volume: float = 0.5
    ring_volume: float = 0.5
    alarm_volume: float = 0.7
    vibrate_on_ring: bool = True
    ringtone: str = "Chime"
    screen_timeout_minutes: int = 1
    screen_lock: str = "Swipe"
    language: str = "English"
    automatic_time: bool = True
    use_24_hour: bool = True
    timezone: str = "Berlin"
    keyboard_sounds: bool = True
    autocorrect: bool = True
    device_name: str = "Fennec 5"
    developer_options: bool = False
    battery_percent: int = 80
    radios_before_airplane: tuple[str, ...] = ()  # what airplane mode switched off
    roaming: bool = False
    data_saver: bool = False
    wifi_scanning: bool = True
    notification_dots: bool = True
    lock_screen_notifications: bool = True
    notification_history: bool = False
    adaptive_battery: bool = True
    charging_sounds: bool = True
    night_light: bool = False
    always_on_display: bool = False
    lift_to_wake: bool = True
    touch_sounds: bool = True
    touch_vibration: bool = True
    notification_volume: float = 0.5
    notification_sound: str = "Pebble"
    alarm_sound: str = "Sunrise"
    screen_pin: str = ""
    show_passwords: bool = True
    find_my_phone: bool = False
    usage_reports: bool = False
    location_accuracy: bool = True
    auto_capitals: bool = True
    suggestions: bool = True
    screen_reader: bool = False
    magnification: bool = False
    high_contrast_text: bool = False
    color_inversion: bool = False
    mono_audio: bool = False
    live_captions: bool = False
    usb_debugging: bool = False
    stay_awake: bool = False


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """An app on this phone. Its version decides details of its layout."""

    id: int = 0
    name: str = ""
    version: int = 1
    place: int = -1  # on the home screen, in reading order over all pages; -1: drawer only
    notifications: bool = True
    camera: bool = False  # permissions
    microphone: bool = False
    contacts: bool = False
    location: bool = False
    storage_megabytes: int = 0
    battery_share: int = 0  # percent of the battery used since the last charge


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of an app, shown in the shade."""

    id: int = 0
    app: str = ""
    title: str = ""
    text: str = ""


VOLUME_STEP = 1 / 15  # a press of a volume key
RADIOS = ("wifi", "bluetooth", "hotspot")  # what airplane mode switches off


def offline(settings: SystemSettings) -> bool:
    """Return whether there is no network: neither Wi-Fi nor mobile data, or airplane mode."""
    return settings.airplane_mode or not (settings.wifi or settings.mobile_data)


def change_volume(facts: Facts, by: float) -> float:
    """Change the media volume, as the volume keys do; return the new one."""
    level = min(max(facts.one(SystemSettings).media_volume + by, 0.0), 1.0)
    facts.change(SystemSettings, media_volume=level)
    return level


def switch(facts: Facts, name: str, on: bool) -> None:
    """Switch a system setting, and the settings that a phone switches along with it."""
    settings = facts.one(SystemSettings)
    if name == "airplane_mode":
        facts.put(_with_airplane_mode(settings, on))
    elif on and name in ("wifi", "hotspot"):  # one antenna: it joins a network or offers one
        other = "hotspot" if name == "wifi" else "wifi"
        facts.edit(settings, **{name: True, other: False})
    else:
        facts.edit(settings, **{name: on})


def _with_airplane_mode(settings: SystemSettings, on: bool) -> SystemSettings:
    """Switch airplane mode: on turns off the radios, off restores those that were on."""
    if on:
        running = tuple(name for name in RADIOS if getattr(settings, name))
        silent = replace(settings, wifi=False, bluetooth=False, hotspot=False)
        return replace(silent, airplane_mode=True, radios_before_airplane=running)
    before = settings.radios_before_airplane
    return replace(
        settings,
        airplane_mode=False,
        wifi=settings.wifi or ("wifi" in before and not settings.hotspot),
        bluetooth=settings.bluetooth or "bluetooth" in before,
        hotspot=settings.hotspot or ("hotspot" in before and not settings.wifi),
        radios_before_airplane=(),
    )
