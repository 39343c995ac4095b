"""The simulated phone as a `Device`, with latency and faults.

The phone itself is exact and instant; this layer makes it as slow and as unreliable as a real one,
if asked to. Pixels depend only on the seed, the drift and the actions; seconds and faults only on
the device's name, the seed and the actions. After a failure on a seed, the next attempt has other
draws, so that a retry is not doomed to meet the same fault.
"""

from __future__ import annotations

import math
from collections import Counter
from types import TracebackType
from typing import NoReturn, Self

from distrl.errors import (
    AppCrashed,
    BlankScreen,
    DeviceDisconnected,
    DeviceError,
    DeviceNotReady,
    DeviceTimeout,
    PageTimeout,
    TypingFailed,
)
from distrl.hierarchy import Element
from distrl.records import ONLY_SAID, Action, Screen, TypeText
from phonesim.boot import new_state
from phonesim.clock import Clock, VirtualClock
from phonesim.display import STANDARD, Display
from phonesim.drift import Drift
from phonesim.faults import NO_FAULTS, FaultKind, Faults, FaultStream
from phonesim.latency import NONE, Durations, Latency
from phonesim.phone import Phone
from phonesim.state import LAUNCHER, PhoneState, Plain

BLANKS: tuple[tuple[FaultKind, str], ...] = (("black_screen", "black"), ("white_screen", "white"))


class SimulatedDevice:
    """Implements `Device` in memory. `phone` gives judges access to the facts."""

    def __init__(
        self,
        name: str,
        drift: Drift | None = None,
        latency: Latency = NONE,
        faults: Faults = NO_FAULTS,
        clock: Clock | None = None,
        display: Display = STANDARD,
    ) -> None:
        self.name = name
        self.display = display
        self.drift = drift or Drift()
        self.latency = latency
        self.faults = faults
        self.clock: Clock = clock or VirtualClock()
        self._phone: Phone | None = None
        self._ready = False
        self._settled = False
        self._failure: DeviceError | None = None
        self._failures: Counter[int] = Counter()  # number by seed
        self._seed = 0
        self._seconds = 0.0
        self._durations: Durations
        self._stream: FaultStream

    # The whole device --------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Set up a new phone by the seed, whatever happened to the one before."""
        state = new_state(
            seed, self.drift, self.display
        )  # refuses a bad seed before anything has changed
        self._begin(seed)
        self._pass(self._durations.of_reset())
        self._furnish(state)

    def _begin(self, seed: int) -> None:
        attempt = self._failures[seed]
        self._seed = seed
        self._durations = Durations(self.latency, self.name, seed, attempt)
        self._stream = FaultStream(self.faults, self.name, seed, attempt)
        self._seconds = 0.0
        self._failure = None

    def _furnish(self, state: PhoneState) -> None:
        if self._phone is None:
            self._phone = Phone(state.seed, state.drift, state.display)
        self._phone.restore(state)
        self._ready, self._settled = True, False

    @property
    def phone(self) -> Phone:
        """The phone itself, also after a failure, so that a judge can read its facts."""
        if self._phone is None or not self._ready:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
        return self._phone

    @property
    def blocking(self) -> bool:
        return self.clock.blocking

    @property
    def seconds(self) -> float:
        return self._seconds

    def close(self) -> None:
        self._phone, self._ready, self._failure = None, False, None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Snapshots: for search and for tests, so they cost no device time ---------------------------

    def snapshot(self) -> PhoneState:
        return self._working_phone().snapshot()

    def restore(self, state: PhoneState) -> None:
        self._working_phone().restore(state)
        self._settled = False

    def fork(self, name: str, clock: Clock | None = None) -> SimulatedDevice:
        """Return a second device in this state, with its own clock (virtual unless given)."""
        state = self.snapshot()
        other = SimulatedDevice(name, self.drift, self.latency, self.faults, clock, self.display)
        other._begin(state.seed)
        other._furnish(state)
        return other

    # Seeing ------------------------------------------------------------------------------------

    def screen(self) -> Screen:
        phone = self._working_phone()
        self._look()
        return Screen(phone.frame())

    def elements(self) -> tuple[Element, ...]:
        """Return the elements on the screen, which takes as long as a screenshot."""
        phone = self._working_phone()
        self._look()
        return phone.elements()

    def _look(self) -> None:
        if not self._settled:
            self._pass(self._durations.of_settling())
            self._settled = True
        self._pass(self._durations.of_capture())

    # Acting ------------------------------------------------------------------------------------

    def perform(self, action: Action) -> Screen:
        phone = self._working_phone()
        if isinstance(action, ONLY_SAID):
            return Screen(phone.frame())
        number = self._stream.next_action()
        self._break_before(action, number)
        before = _page(phone)
        phone.perform(action)
        self._settled = False
        self._pass(self._durations.of_action(action))
        if _page(phone) != before:
            self._load_page(action, number)
        self._look()
        self._blank_out(action, number)
        return Screen(phone.frame())

    def _break_before(self, action: Action, number: int) -> None:
        """Raise if a fault keeps the action from reaching the phone."""
        strikes = self._stream.strikes
        if strikes("disconnect"):
            self._fail(DeviceDisconnected, action, number, "the connection to the phone is gone")
        if strikes("freeze"):
            deadline = self.faults.step_deadline
            self._pass(deadline)
            self._fail(DeviceTimeout, action, number, f"no answer within {deadline:g} s")
        app = self.phone.state.front
        if app != LAUNCHER and strikes("app_crash"):
            self._pass(self._durations.of_action(action))
            self.phone.crash()
            self._fail(AppCrashed, action, number, f"the app {app} stopped")
        if isinstance(action, TypeText) and strikes("stuck_keyboard"):
            self._pass(self._durations.of_action(action))
            self._fail(TypingFailed, action, number, "the keyboard took no text")

    def _load_page(self, action: Action, number: int) -> None:
        seconds, deadline = self._durations.of_page_load(), self.faults.page_deadline
        if self._stream.strikes("slow_page"):
            seconds += self._stream.page_seconds()
            if seconds > deadline:
                self._pass(deadline)
                front = self.phone.state.front
                what = f"a page of {front} was still loading after {deadline:g} s"
                self._fail(PageTimeout, action, number, what)
        self._pass(seconds)

    def _blank_out(self, action: Action, number: int) -> None:
        """If a blank-screen fault strikes, retry the picture a few times; raise if it stays."""
        for kind, color in BLANKS:
            if self._stream.strikes(kind):
                every, most = self.faults.blank_retry_seconds, self.faults.blank_retries
                lasts = self._stream.blank_seconds()
                retries = math.ceil(lasts / every) if every else most + 1
                self._pass(min(retries, most) * every)
                if retries > most:
                    what = f"the screen stayed {color} through {most} more looks, {every:g} s apart"
                    self._fail(BlankScreen, action, number, what)

    # Time and failure --------------------------------------------------------------------------

    def _pass(self, seconds: float) -> None:
        if seconds:
            self._seconds += self.clock.sleep(seconds)

    def _fail(self, error: type[DeviceError], action: Action, number: int, what: str) -> NoReturn:
        tried = f"at {_describe(action)}, action {number} of the episode"
        self._failure = error(f"device {self.name}: {what}, {tried}; reset the device")
        self._failures[self._seed] += 1
        raise self._failure

    def _working_phone(self) -> Phone:
        if self._failure is not None:
            raise type(self._failure)(f"{self._failure} (it has failed and was not reset since)")
        return self.phone


def _page(phone: Phone) -> tuple[str, list[tuple[str, tuple[Plain, ...]]]]:
    """Return the app and the open pages in front, without their memory (scroll, drafts)."""
    return phone.state.front, [(route.page, route.args) for route in phone.routes]


def _describe(action: Action) -> str:
    """Describe an action without its typed text, which may be private and long."""
    if isinstance(action, TypeText):
        return f"TypeText of {len(action.text)} characters"
    return repr(action)[:80]
