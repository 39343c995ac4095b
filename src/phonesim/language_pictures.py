"""Pictures of the phone's languages side by side, and of its scripts and keyboards."""

from __future__ import annotations

from dataclasses import replace

from PIL import Image

from phonesim.display import Display
from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.languages.language import FOLDERS, language
from phonesim.phone import Phone
from phonesim.pictures import tile_pictures
from phonesim.system import SystemSettings

OWN_NAMES = {"English": "English", "German": "Deutsch", "Spanish": "Español", "Chinese": "中文"}
WALLPAPER = "aurora"  # quiet behind the icons
FINE = Display(720, 1440, 2)
TITLE = "世界 · عالم · विश्व"
RIGHT_TO_LEFT = "שלום! נפגשים ב-18:30\nمرحبا بالعالم 👍\nनमस्ते, कैसे हो?\nПривет! 你好 😊❤️"
FAR_EAST = "Grüße aus Köln 🎉\n今晚一起吃饭吗？🔥\nこんにちは、元気？\n안녕하세요 ⭐"


def draw_languages(seed: int) -> Image.Image:
    """Home screen, Settings, one page of it and the shade, a column for each language."""
    pictures = [draw(seed, name) for draw in (_home, _settings, _page, _shade) for name in FOLDERS]
    captions = [OWN_NAMES[name] for name in FOLDERS] * 4
    return tile_pictures(pictures, captions, columns=2 * len(FOLDERS), width=240)


def draw_scripts(seed: int) -> Image.Image:
    """A note in eight scripts, the emoji keys, a German keyboard in dark, Chinese settings."""
    pictures = [
        _note(seed, "English", RIGHT_TO_LEFT),
        _note(seed, "English", RIGHT_TO_LEFT, emoji=True),
        _note(seed, "German", FAR_EAST, dark=True),
        _settings(seed, "Chinese", dark=True),
    ]
    captions = ["English keyboard", "Emoji: a long press on the comma", "Deutsch", "中文"]
    return tile_pictures(pictures, captions, columns=4, width=300)


def _phone(seed: int, spoken: str, dark: bool = False) -> Phone:
    phone = Phone(seed, replace(NO_DRIFT, languages=(spoken,)), FINE)
    phone.facts.change(SystemSettings, dark_mode=dark, wallpaper=WALLPAPER)
    return phone


def _home(seed: int, spoken: str) -> Image.Image:
    return Image.fromarray(_phone(seed, spoken).frame())


def _settings(seed: int, spoken: str, dark: bool = False) -> Image.Image:
    phone = _phone(seed, spoken, dark)
    phone.launch("Settings")
    return Image.fromarray(phone.frame())


def _page(seed: int, spoken: str) -> Image.Image:
    phone = _phone(seed, spoken)
    phone.launch("Settings")
    Finger(phone).tap(language(spoken).tr("Display"))
    return Image.fromarray(phone.frame())


def _shade(seed: int, spoken: str) -> Image.Image:
    phone = _phone(seed, spoken, dark=True)
    phone.show_overlay("shade")
    return Image.fromarray(phone.frame())


def _note(
    seed: int, spoken: str, text: str, dark: bool = False, emoji: bool = False
) -> Image.Image:
    phone = _phone(seed, spoken, dark)
    phone.launch("Notes")
    finger = Finger(phone)
    finger.tap("New note")
    finger.fill("Title", TITLE)
    finger.fill("Text", text)
    if emoji:
        finger.hold(",")
    return Image.fromarray(phone.frame())
