"""The moves of which scripted solutions consist.

A move names its target, not a position: the solver finds the target on the screen, scrolls to it
and closes pop-ups on the way. A solution that ends without `Say` ends with the action `Done`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Open:
    """Bring an app to the front, by its icon on the home screen or in the drawer."""

    app: str


@dataclass(frozen=True, slots=True)
class Press:
    """Tap the element with this label. `detail` and `role` filter the matches, `nth` picks one."""

    label: str
    role: str | None = None
    detail: str | None = None
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Hold:
    """Long-press the element with this label; the fields are those of `Press`."""

    label: str
    role: str | None = None
    detail: str | None = None
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Fill:
    """Make a text field contain exactly this text: focus it, clear other text, type."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Toggle:
    """Set a switch, check box or radio button to this state."""

    label: str
    on: bool
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Slide:
    """Set a slider to a fraction in [0, 1] of its range."""

    label: str
    share: float


@dataclass(frozen=True, slots=True)
class Submit:
    """Press Enter in the focused field."""


@dataclass(frozen=True, slots=True)
class GoBack:
    """Press Back."""


@dataclass(frozen=True, slots=True)
class GoHome:
    """Press Home."""


@dataclass(frozen=True, slots=True)
class PullShade:
    """Pull down the quick settings."""


@dataclass(frozen=True, slots=True)
class Reveal:
    """Scroll until an element with this label is visible."""

    label: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the simulated user a question."""

    question: str


@dataclass(frozen=True, slots=True)
class Say:
    """Answer a question; this ends the task."""

    text: str


Move = (
    Open
    | Press
    | Hold
    | Fill
    | Toggle
    | Slide
    | Submit
    | GoBack
    | GoHome
    | PullShade
    | Reveal
    | Pause
    | Ask
    | Say
)
