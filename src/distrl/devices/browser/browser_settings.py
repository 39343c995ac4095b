"""Settings of browser pages, and the viewport that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.devices.browser.allowed_origins import origin_of


@dataclass(frozen=True, slots=True)
class Viewport:
    """The screen of a page: pixels, pixels of each CSS pixel, and whether it is a phone's."""

    width: int = 360
    height: int = 720
    scale: float = 1.0
    mobile: bool = True  # pages lay themselves out as their viewport tag says; else as on a desktop

    @property
    def css_size(self) -> tuple[int, int]:
        return round(self.width / self.scale), round(self.height / self.scale)


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Chromium as devices (`devices.kind = "browser"`).

    A page with a chromium-headless-shell of its own is drawn on demand: a step takes less than
    half of the time of one that shares a browser or lives in an ordinary Chromium, for twice the
    memory (`make bench-browser`). The browser is the first on the PATH, or what the environment
    variable CHROMIUM names.
    """

    pages: Annotated[int, Bounds(1, 64, "pages in each browser; 1: drawn on demand")] = 1
    width: Annotated[int, Bounds(64, 4096, "pixels")] = 360
    height: Annotated[int, Bounds(64, 4096, "pixels")] = 720
    scale: Annotated[float, Bounds(0.25, 8.0, "pixels of a CSS pixel; MiniWoB's fit the width")] = (
        1.0
    )
    origins: Annotated[
        tuple[str, ...], Meaning("beside those of tasks on this machine, such as https://x.org")
    ] = ()

    def __post_init__(self) -> None:
        check_bounds(self)
        for each in self.origins:
            origin_of(each)

    @property
    def viewport(self) -> Viewport:
        return Viewport(self.width, self.height, self.scale)
