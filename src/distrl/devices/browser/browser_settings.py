"""Settings of browser pages, and the viewport that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.devices.browser.allowed_origins import origin_of


@dataclass(frozen=True, slots=True)
class Viewport:
    """The screen of a page: size in pixels, pixels per CSS pixel, mobile or desktop layout."""

    width: int = 360
    height: int = 720
    scale: float = 1.0
    mobile: bool = True  # the layout follows the page's viewport tag; else that of a desktop

    @property
    def css_size(self) -> tuple[int, int]:
        return round(self.width / self.scale), round(self.height / self.scale)


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Pages of a headless Chromium as devices (`devices.kind = "browser"`).

    With one page per chromium-headless-shell, frames are drawn on demand: a step then takes less
    than half of the time that it takes in a shared browser or in an ordinary Chromium, for twice
    the memory (`make bench-browser`). The browser is the first one on the PATH, or the one that the
    environment variable CHROMIUM names.
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
