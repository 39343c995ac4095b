"""Every setting and its page: the one table that pages, search and tasks read.

`PAGES` is the tree of pages, `SWITCHES` the settings that are on or off, `CHOICES` those with one
of several values. Labels are the same in every version of the app; order and details are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from phonesim.contents.time_zones import TIME_ZONES
from phonesim.drawing.colors import Color
from phonesim.drawing.theme import ACCENTS, FONT_SCALES
from phonesim.drift import WALLPAPERS
from phonesim.languages.language import Language


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page of Settings: its parent, and how its row on the parent looks."""

    title: str
    parent: str
    icon: str
    summary: str = ""
    color: Color = (96, 104, 120)


@dataclass(frozen=True, slots=True)
class SwitchEntry:
    """A setting that is on or off, and the page with its switch."""

    label: str
    page: str
    detail: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceEntry:
    """A setting that is one of several values, and the page with its row."""

    label: str
    page: str
    options: dict[str, str | int | float]  # label -> stored value
    icon: str = ""

    def shown(self, value: object) -> str:
        return next((label for label, kept in self.options.items() if kept == value), str(value))


PAGES: dict[str, PageEntry] = {
    "network": PageEntry(
        "Network & internet", "home", "wifi", "Wi-Fi, mobile network, hotspot", (46, 125, 220)
    ),
    "wifi": PageEntry("Wi-Fi", "network", "wifi"),
    "mobile_network": PageEntry("Mobile network", "network", "signal", "Data, roaming"),
    "hotspot": PageEntry("Hotspot", "network", "hotspot"),
    "connected": PageEntry(
        "Connected devices", "home", "bluetooth", "Bluetooth, NFC", (30, 140, 150)
    ),
    "bluetooth": PageEntry("Bluetooth", "connected", "bluetooth"),
    "app_list": PageEntry("Apps", "home", "apps", "Permissions, storage", (220, 110, 40)),
    "notifications": PageEntry(
        "Notifications", "home", "message", "Do not disturb, lock screen", (200, 60, 90)
    ),
    "battery": PageEntry("Battery", "home", "battery", "", (60, 150, 80)),
    "display": PageEntry(
        "Display", "home", "brightness", "Brightness, dark theme, font size", (230, 150, 20)
    ),
    "style": PageEntry(
        "Wallpaper & style", "home", "image", "Wallpaper, accent colour", (150, 80, 190)
    ),
    "wallpapers": PageEntry("Wallpaper", "style", "image"),
    "accents": PageEntry("Accent colour", "style", "sun"),
    "sound": PageEntry("Sound & vibration", "home", "sound", "Volumes, ringtone", (90, 100, 200)),
    "accessibility": PageEntry(
        "Accessibility", "home", "accessibility", "Screen reader, magnification", (40, 120, 170)
    ),
    "security": PageEntry(
        "Security & privacy", "home", "lock", "Screen lock, find my phone", (70, 140, 110)
    ),
    "location": PageEntry("Location", "home", "location", "", (200, 80, 60)),
    "system": PageEntry(
        "System", "home", "settings", "Language, date & time, keyboard", (110, 116, 128)
    ),
    "date_time": PageEntry("Date & time", "system", "clock"),
    "keyboard": PageEntry("Keyboard", "system", "keyboard_icon"),
    "developer": PageEntry("Developer options", "system", "developer"),
    "about": PageEntry("About phone", "home", "info", "", (80, 90, 100)),
}

SWITCHES: dict[str, SwitchEntry] = {
    "wifi": SwitchEntry("Use Wi-Fi", "wifi"),
    "wifi_scanning": SwitchEntry("Look for networks", "wifi", "Tell me about open networks nearby"),
    "mobile_data": SwitchEntry("Mobile data", "mobile_network", "Use data over the mobile network"),
    "roaming": SwitchEntry("Roaming", "mobile_network", "Use data when travelling abroad"),
    "data_saver": SwitchEntry("Data saver", "network", "Less data in the background", "data"),
    "airplane_mode": SwitchEntry("Airplane mode", "network", "Switch off all radios", "airplane"),
    "hotspot": SwitchEntry("Wi-Fi hotspot", "hotspot", "Share the internet with others nearby"),
    "bluetooth": SwitchEntry("Use Bluetooth", "bluetooth"),
    "nfc": SwitchEntry("NFC", "connected", "Pay and pair by holding things together", "nfc"),
    "do_not_disturb": SwitchEntry("Do not disturb", "notifications", "No sounds, no pop-ups"),
    "notification_dots": SwitchEntry("Notification dots", "notifications", "On app icons"),
    "lock_screen_notifications": SwitchEntry(
        "Notifications on lock screen", "notifications", "Show them before unlocking"
    ),
    "notification_history": SwitchEntry(
        "Notification history", "notifications", "Keep what was dismissed"
    ),
    "battery_saver": SwitchEntry("Battery saver", "battery", "Last longer, do less"),
    "adaptive_battery": SwitchEntry("Adaptive battery", "battery", "Learn which apps matter"),
    "auto_brightness": SwitchEntry("Adaptive brightness", "display", "Follow the light around"),
    "dark_mode": SwitchEntry("Dark theme", "display", "Light text on dark pages", "moon"),
    "night_light": SwitchEntry("Night light", "display", "Warmer colours in the evening"),
    "auto_rotate": SwitchEntry("Auto-rotate screen", "display", "", "rotate"),
    "always_on_display": SwitchEntry("Always-on display", "display", "Show the time when locked"),
    "lift_to_wake": SwitchEntry("Lift to wake", "display"),
    "vibrate_on_ring": SwitchEntry("Vibrate for calls", "sound", "", "vibrate"),
    "touch_sounds": SwitchEntry("Touch sounds", "sound"),
    "touch_vibration": SwitchEntry("Touch vibration", "sound"),
    "charging_sounds": SwitchEntry("Charging sounds", "sound"),
    "show_passwords": SwitchEntry("Show passwords", "security", "For a moment while typing"),
    "find_my_phone": SwitchEntry("Find my phone", "security", "Locate it when it is lost"),
    "usage_reports": SwitchEntry("Usage reports", "security", "Send statistics to the maker"),
    "location": SwitchEntry("Use location", "location", "", "location"),
    "location_accuracy": SwitchEntry(
        "Location accuracy", "location", "Ask networks nearby as well"
    ),
    "automatic_time": SwitchEntry("Set time automatically", "date_time", "From the network"),
    "use_24_hour": SwitchEntry("Use 24-hour format", "date_time", "13:00 instead of 1:00 PM"),
    "autocorrect": SwitchEntry("Autocorrect", "keyboard", "Mend words while typing"),
    "suggestions": SwitchEntry("Show suggestions", "keyboard", "Words above the keys"),
    "auto_capitals": SwitchEntry("Automatic capitals", "keyboard", "At the start of a sentence"),
    "keyboard_sounds": SwitchEntry("Key sounds", "keyboard", "A click for every key"),
    "usb_debugging": SwitchEntry("USB debugging", "developer", "When a cable is plugged in"),
    "stay_awake": SwitchEntry("Stay awake", "developer", "No screen timeout while charging"),
    "screen_reader": SwitchEntry("Screen reader", "accessibility", "Speak what is touched"),
    "magnification": SwitchEntry("Magnification", "accessibility", "Tap three times to zoom"),
    "high_contrast_text": SwitchEntry("High-contrast text", "accessibility"),
    "color_inversion": SwitchEntry("Colour inversion", "accessibility"),
    "mono_audio": SwitchEntry("Mono audio", "accessibility", "Both ears hear the same"),
    "live_captions": SwitchEntry("Live captions", "accessibility", "Read what is being said"),
}

TONES = (
    "Chime", "Pebble", "Sunrise", "Marimba", "Harbour", "Lantern", "Raindrop", "Skylark",
    "Copper", "Meadow", "Orbit", "Willow",
)  # fmt: skip
LANGUAGES = {
    "English": "English", "German": "Deutsch", "French": "Français", "Spanish": "Español",
    "Italian": "Italiano", "Portuguese": "Português", "Dutch": "Nederlands", "Polish": "Polski",
    "Swedish": "Svenska", "Danish": "Dansk", "Finnish": "Suomi", "Turkish": "Türkçe",
    "Czech": "Čeština", "Hungarian": "Magyar", "Romanian": "Română", "Indonesian": "Indonesia",
    "Chinese": "中文",
}  # fmt: skip
FONT_SIZES = dict(zip(("Small", "Default", "Large", "Largest"), FONT_SCALES, strict=True))
TIMEOUTS = (1, 2, 3, 5, 10, 15, 30)
LOCKS = ("None", "Swipe", "PIN")

CHOICES: dict[str, ChoiceEntry] = {
    "font_scale": ChoiceEntry("Font size", "display", {**FONT_SIZES}),
    "screen_timeout_minutes": ChoiceEntry(
        "Screen timeout",
        "display",
        {f"{minutes} minute{'s' * (minutes > 1)}": minutes for minutes in TIMEOUTS},
    ),
    "ringtone": ChoiceEntry("Ringtone", "sound", {tone: tone for tone in TONES}, "music"),
    "notification_sound": ChoiceEntry(
        "Notification sound", "sound", {tone: tone for tone in TONES}, "message"
    ),
    "alarm_sound": ChoiceEntry("Alarm sound", "sound", {tone: tone for tone in TONES}, "alarm"),
    "screen_lock": ChoiceEntry("Screen lock", "security", {lock: lock for lock in LOCKS}, "lock"),
    "language": ChoiceEntry("Language", "system", {name: name for name in LANGUAGES}, "language"),
    "timezone": ChoiceEntry("Time zone", "date_time", {city: city for city in TIME_ZONES}),
    "wallpaper": ChoiceEntry("Wallpaper", "wallpapers", {w.title(): w for w in WALLPAPERS}),
    "accent": ChoiceEntry("Accent colour", "accents", {name.title(): name for name in ACCENTS}),
}
VOLUMES = {
    "media_volume": "Media volume",
    "ring_volume": "Ring volume",
    "alarm_volume": "Alarm volume",
    "notification_volume": "Notification volume",
}


def path_to(page: str) -> tuple[str, ...]:
    """Return the titles to tap, from the first page on, to reach a page."""
    titles: list[str] = []
    while page != "home":
        titles.insert(0, PAGES[page].title)
        page = PAGES[page].parent
    return tuple(titles)


def found_by(query: str, of: Language) -> list[tuple[str, str]]:
    """Return the labels that match a search, each with the page where it is set."""
    words = query.casefold().split()
    return [
        (label, page) for label, page, text in _index(of) if all(word in text for word in words)
    ]


@cache
def _index(of: Language) -> list[tuple[str, str, str]]:
    entries = [(entry.title, page, entry.summary) for page, entry in PAGES.items()]
    entries += [(entry.label, entry.page, entry.detail) for entry in SWITCHES.values()]
    own = ("wallpapers", "accents")  # pages that are listed already
    entries += [(c.label, c.page, "") for c in CHOICES.values() if c.page not in own]
    entries += [(label, "sound", "") for label in VOLUMES.values()]
    entries += [("Brightness", "display", ""), ("Device name", "about", "rename")]
    return [
        (label, page, " ".join(map(of.tr, (label, more, *path_to(page)))).casefold())
        for label, page, more in entries
        if page != "developer"
    ]
