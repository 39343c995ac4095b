"""The protocol of a dialect: a way of writing actions that some family of models was trained on.

`read` never raises: any text at all yields an action, or an `Unreadable` that says why not.
`write` followed by `read` gives the action back, as exactly as the dialect's coordinates allow;
what a dialect cannot express is written as the nearest that it can, and its module says which.

Readers are tolerant of form and strict about meaning. Quotes of the wrong kind, code fences,
thoughts around the action or a missing bracket at the end are forgiven; a place off the screen, a
number that was cut off, or a gesture that this phone does not know is not guessed at. Of several
actions in one answer the first is meant: the others were decided on without seeing its screen.
Text with half of a surrogate pair in it is no text, and is not typed. Of answers that have to be
searched for their action, those beyond 50,000 characters are not.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from distrl.records import Action


class ImageSize(NamedTuple):
    """The picture as the model saw it, after resizing, in pixels. Some dialects count in these."""

    width: int
    height: int


class Dialect(Protocol):
    """One way of writing actions."""

    @property
    def name(self) -> str: ...

    @property
    def instructions(self) -> str:
        """The system text for models that were not trained on this dialect; may be empty."""
        ...

    def write(self, action: Action, image: ImageSize) -> str: ...

    def read(self, text: str, image: ImageSize) -> Action: ...
