"""Limit what an agent can do on a person's phone. On by default for handsets.

`SafeDevice` wraps a device and promises:

- nothing happens without the owner's consent file for this phone;
- only apps on the allow-list are opened or touched; in other apps the agent can only wait or leave
  (Back, Home, opening an allowed app);
- the power key, the notification shade and the overview of recent apps are never used;
- a tap or an Enter that would send, pay, call, uninstall or reset is not performed: the phone is
  left unchanged, the agent sees the same screen, and the record says what was stopped and why;
- private regions of the screen are blacked out before the picture leaves this object;
- in a dry run no action or reset is performed: the phone is only observed.

The owner's consent is one file per phone, written by hand: `SERIAL.toml` in
`~/.config/distrl/consent` (or in the folder `DISTRL_CONSENT`). It names the phone, contains the
sentence, and lists the apps. Deleting it withdraws the consent: every reset reads it again.

    serial = "R5CT30XXXXX"
    owner = "Ada"
    sentence = "I agree that DistRL operates this phone."
    apps = ["com.android.settings", "com.google.android.deskclock"]

Labels are read from the phone's view hierarchy at the moment of the action: those under the finger
and, for a tap, all labels of the row that it touches. `blocked_words.toml` has a list of blocked
words for each of 25 languages; all lists apply on every phone. Such lists cannot cover every app:
they supplement the allow-list.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import numpy as np

from distrl.bounds import Meaning
from distrl.devices.adb.android_device import AndroidDevice
from distrl.devices.adb.android_state import SYSTEM_UI
from distrl.devices.safety.blocked_words import blocked_word, blocked_words
from distrl.devices.safety.refusals import Refusal, append_refusals
from distrl.errors import ConsentMissing, InvalidSetting, ScreenRestless
from distrl.hierarchy import MAX_READ, Element, words_touched, words_under
from distrl.records import (
    ONLY_SAID,
    Action,
    Back,
    DoubleTap,
    DragAndDrop,
    Enter,
    Home,
    LongPress,
    OpenApp,
    OpenShade,
    Pinch,
    Power,
    Recents,
    Screen,
    Swipe,
    Tap,
    TypeText,
    Wait,
)
from distrl.toml_file import read_toml_file

Region = tuple[float, float, float, float]  # left, top, right, bottom, as shares of the screen
HIDDEN = "(hidden)"
WordsAt = Callable[[Sequence[Element], float, float], list[str]]  # labels that a touch acts on

BLOCKED_PACKAGES = (
    SYSTEM_UI,  # the shade and the power menu: settings, replies, power off
    "com.android.packageinstaller",
    "com.google.android.packageinstaller",
    "com.android.phone",
    "com.android.emergency",
    "com.google.android.gms.pay",
    "com.google.android.apps.walletnfcrel",
)

CLOSED: dict[type[Action], str] = {  # never performed, whichever app is in front
    Power: "the power key stays with the owner",
    OpenShade: "the shade has settings, replies and other people's messages in it",
    Recents: "the overview shows apps that are not on the allow-list",
}


@dataclass(frozen=True, slots=True)
class SafetySettings:
    """The safety rules. An agent may use only apps that are listed here and in the consent."""

    apps: Annotated[tuple[str, ...], Meaning("packages that may be used")] = ()
    more_blocked_words: Annotated[
        tuple[str, ...], Meaning("labels beside those that are blocked on every phone")
    ] = ()
    more_blocked_packages: Annotated[
        tuple[str, ...], Meaning("packages beside those that are blocked on every phone")
    ] = ()
    block_enter: Annotated[bool, Meaning("never press Enter, which sends in many apps")] = True
    redact: Annotated[
        tuple[Region, ...], Meaning("left, top, right, bottom of what is blacked out, in shares")
    ] = ()
    dry_run: Annotated[bool, Meaning("carry nothing out")] = False
    record: Annotated[
        str, Meaning("a file of what was stopped, when and why; empty: refusals.jsonl of the run")
    ] = ""

    def __post_init__(self) -> None:
        for region in self.redact:
            left, top, right, bottom = region if len(region) == 4 else (1.0,) * 4  # refused below
            if not (0.0 <= left < right <= 1.0 and 0.0 <= top < bottom <= 1.0):
                raise InvalidSetting(
                    f"redact={list(region)}; give left, top, right, bottom as "
                    "shares of the screen in [0, 1], left before right and top above bottom"
                )


class Stopped(NamedTuple):
    """An action that was not carried out."""

    action: str
    why: str


@dataclass(slots=True)
class SafeDevice:
    """Implements `Device`: wraps another device and guards it."""

    device: AndroidDevice
    settings: SafetySettings
    consent: Callable[[], Consent]  # called at each reset, since consent may be withdrawn
    stopped: list[Stopped] = field(default_factory=list)  # since the last reset
    _agreed: Consent | None = None
    _home: str = ""

    def __post_init__(self) -> None:
        self.device.taps_icons = False  # an icon does not say which package it opens

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def blocking(self) -> bool:
        return self.device.blocking

    @property
    def seconds(self) -> float:
        return self.device.seconds

    def reset(self, seed: int) -> None:
        """Reset the phone; raise `ConsentMissing` before it is touched."""
        self._agreed = None
        self._agreed = self.consent()
        self.stopped.clear()
        if self.settings.dry_run:
            self.device.attach()
        else:
            self.device.reset(seed)
        self._home = self.device.home_package()

    def screen(self) -> Screen:
        return self._redacted(self.device.screen())

    def elements(self) -> tuple[Element, ...]:
        screen = self.device.screen()
        return tuple(self._without_secrets(e, screen) for e in self.device.elements())

    def perform(self, action: Action) -> Screen:
        if isinstance(action, ONLY_SAID):
            return self._redacted(self.device.perform(action))
        why = self._objection(action)
        if why:
            self._note(action, why)
            return self.screen()
        screen = self.device.perform(action)
        return self._redacted(self._return_from_elsewhere(action, screen))

    def close(self) -> None:
        self.device.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # Rules -------------------------------------------------------------------------------------

    def _objection(self, action: Action) -> str:
        """Return the reason why an action is refused; empty if it is allowed."""
        if self.settings.dry_run:
            return "this is a dry run"
        if isinstance(action, Back | Home | Wait):
            return ""
        if isinstance(action, Power | OpenShade | Recents):
            return CLOSED[type(action)]
        if isinstance(action, OpenApp):
            package = self.device.package_of(action.name)
            if package is None or self._allows(package):
                return ""
            return f"the app {package} is not on the allow-list"
        front = self.device.front_package()
        if not self._allows(front):
            return f"the app in front, {front or 'unknown'}, is not on the allow-list"
        if isinstance(action, Enter) and self.settings.block_enter:
            return "Enter may send what was written"
        if isinstance(action, TypeText) and "\n" in action.text and self.settings.block_enter:
            return "a new line is an Enter, which may send what was written"
        if isinstance(action, Tap | LongPress | DoubleTap):
            return self._label_objection(words_touched, action.x, action.y)
        if isinstance(action, Swipe | Pinch):  # "slide to pay" is blocked; a row may be scrolled
            return self._label_objection(words_under, action.x, action.y)
        if isinstance(action, DragAndDrop):
            ends = ((action.x, action.y), (action.to_x, action.to_y))
            return next(
                filter(None, (self._label_objection(words_touched, *end) for end in ends)), ""
            )
        return ""

    def _allows(self, package: str) -> bool:
        blocked = (*BLOCKED_PACKAGES, *self.settings.more_blocked_packages)
        if not package or package in blocked:
            return False
        agreed = self._agreed.apps if self._agreed else ()
        if package == self._home:
            return True
        return package in self.settings.apps and package in agreed

    def _label_objection(self, words_at: WordsAt, x: float, y: float) -> str:
        """Check every label that the touch may act on; a row's labels are on the views in it."""
        screen = self.device.screen()
        try:
            elements = self.device.elements()
        except ScreenRestless as error:  # the labels are unknown
            return f"what is there could not be read: {error}"
        if len(elements) > MAX_READ:
            return f"what is there was not read: it has {len(elements)} elements, over {MAX_READ}"
        blocked = (*blocked_words(), *self.settings.more_blocked_words)
        for label in words_at(elements, x * screen.width, y * screen.height):
            word = blocked_word(label, blocked)
            if word:
                return f"what is there says {label[:40]!r}, and {word!r} is blocked"
        return ""

    def _return_from_elsewhere(self, action: Action, screen: Screen) -> Screen:
        """Go home if the action (a link, an intent) has opened an app that is not allowed."""
        if isinstance(action, Home):
            return screen
        front = self.device.front_package()
        if not front or self._allows(front):
            return screen
        self._note(action, f"it led to {front}, which is not on the allow-list; gone home")
        return self.device.perform(Home())

    def _note(self, action: Action, why: str) -> None:
        """Record a refused action. Typed text may be private: record only its length."""
        said = repr(action)
        if isinstance(action, TypeText):
            said = f"TypeText of {len(action.text)} characters"
        self.stopped.append(Stopped(said, why))
        if self.settings.record:
            refusal = Refusal(time.time(), self.name, said, why)
            append_refusals(Path(self.settings.record), refusal)

    # Secrets -----------------------------------------------------------------------------------

    def _redacted(self, screen: Screen) -> Screen:
        if not self.settings.redact:
            return screen
        pixels = np.array(screen.pixels)
        for region in self.settings.redact:
            left, top, right, bottom = _in_pixels(region, screen)
            pixels[top:bottom, left:right] = 0
        return Screen(pixels)

    def _without_secrets(self, element: Element, screen: Screen) -> Element:
        left, top, right, bottom = element.bounds
        for region in self.settings.redact:
            from_x, from_y, to_x, to_y = _in_pixels(region, screen)
            if left < to_x and from_x < right and top < to_y and from_y < bottom:
                return element._replace(text=HIDDEN, detail="", value="")
        return element


def _in_pixels(region: Region, screen: Screen) -> tuple[int, int, int, int]:
    """Convert a region to pixels, rounded outwards so that no edge of a secret stays visible."""
    left, top, right, bottom = region
    return (
        int(np.floor(left * screen.width)),
        int(np.floor(top * screen.height)),
        int(np.ceil(right * screen.width)),
        int(np.ceil(bottom * screen.height)),
    )


# Consent -----------------------------------------------------------------------------------------

SENTENCE = "I agree that DistRL operates this phone."


@dataclass(frozen=True, slots=True)
class Consent:
    """The consent of a phone's owner, and the apps that it covers."""

    serial: str
    owner: str
    apps: tuple[str, ...]


def consent_path(serial: str) -> Path:
    """Path of the consent file of this phone."""
    folder = os.environ.get("DISTRL_CONSENT")
    root = Path(folder) if folder else Path.home() / ".config" / "distrl" / "consent"
    return root / f"{re.sub(r'[^A-Za-z0-9._-]', '_', serial)}.toml"


def read_consent(serial: str) -> Consent:
    """Read the consent for this phone, or raise `ConsentMissing`."""
    path = consent_path(serial)
    try:
        written = read_toml_file(path)
    except FileNotFoundError as error:
        raise ConsentMissing(_how(serial, path, "there is no such file")) from error
    except (OSError, ValueError) as error:
        raise ConsentMissing(_how(serial, path, f"it cannot be read: {error}")) from error
    apps = written.get("apps")
    if written.get("serial") != serial:
        raise ConsentMissing(_how(serial, path, f"it names the phone {written.get('serial')!r}"))
    if written.get("sentence") != SENTENCE or not written.get("owner"):
        raise ConsentMissing(_how(serial, path, "the sentence or the owner is missing"))
    if not isinstance(apps, list) or not all(isinstance(app, str) for app in apps):
        raise ConsentMissing(_how(serial, path, "apps is no list of packages"))
    return Consent(serial, str(written["owner"]), tuple(apps))


def _how(serial: str, path: Path, why: str) -> str:
    return (
        f"device {serial} is a handset, and its owner's consent in {path} does not hold: {why}. "
        f'Write there: serial = "{serial}", owner = "…", sentence = "{SENTENCE}" and '
        'apps = ["…"] with the packages that may be used'
    )
