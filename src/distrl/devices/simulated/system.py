"""Facts of the phone itself: its settings, its installed apps, its notifications."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """Every system setting, as the user left it."""

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


@dataclass(frozen=True, slots=True)
class Notification:
    """Something an app wants to say; shown in the shade."""

    id: int = 0
    app: str = ""
    title: str = ""
    text: str = ""
