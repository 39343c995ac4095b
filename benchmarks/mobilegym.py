"""MobileGym beside our phone, measured in the same run where one is installed.

MobileGym is a web page. Serve it as its own instructions say (`npm run dev`), put its address into
the environment variable MOBILEGYM_URL, and `make bench-phone` measures it with the headless
Chromium that `distrl` finds: the time to the first screen, a tap with its picture, and starting
over, each at 360 × 720, as medians. Nothing is downloaded, and only that origin is opened. How the
two differ apart from speed is in docs/mobilegym.md.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.devices.browser.browser_settings import BrowserSettings
from distrl.records import Home, Tap

VARIABLE = "MOBILEGYM_URL"
STARTS, TAPS = 3, 40
PLACES = ((0.2, 0.3), (0.5, 0.5), (0.8, 0.7), (0.5, 0.9))


def measure_mobilegym(url: str) -> dict[str, float]:
    """Its figures; a browser that is not there, or a page that does not load, is a typed error."""
    starts: list[float] = []
    steps: list[float] = []
    resets: list[float] = []
    with BrowserPool(BrowserSettings(), AllowedOrigins.of((url,), listed=(url,))) as pool:
        for _ in range(STARTS):
            with BrowserDevice("mobilegym", pool) as device:
                starts.append(_seconds(partial(_open, device, url)))
                steps += [_seconds(partial(_tap, device, number)) for number in range(TAPS)]
                resets.append(_seconds(partial(device.perform, Home())))
    return {
        "mobilegym_first_screen_ms": 1000 * statistics.median(starts),
        "mobilegym_step_ms_p50": 1000 * statistics.median(steps),
        "mobilegym_steps_per_s": 1 / statistics.mean(steps),
        "mobilegym_reset_ms": 1000 * statistics.median(resets),
    }


def _open(device: BrowserDevice, url: str) -> None:
    device.reset(0)
    device.open(url)
    device.screen()


def _tap(device: BrowserDevice, number: int) -> None:
    device.perform(Tap(*PLACES[number % len(PLACES)]))


def _seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun
