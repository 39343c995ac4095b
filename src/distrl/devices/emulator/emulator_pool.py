"""A pool that keeps a number of emulators healthy: some in use, some booted as spares.

`EmulatedDevice` takes a booted emulator and gives it back, healthy or broken. A thread of the pool
boots missing emulators, a few at a time, stops those that crashed or hang, and backs off after each
failed boot. The pool owns every process that it started and stops all of them when it is closed.

To a collector an `EmulatedDevice` is one phone with one name. The next reset returns an emulator
that crashed or hangs and replaces it by a booted spare; the interrupted episode ends with a device
error, as on any device.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Self

from distrl.bounds import Bounds, Checked
from distrl.devices.adb.adb_device import AdbDevice
from distrl.devices.adb.adb_socket import Deadline
from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.adb.screen_capture import CAPTURES
from distrl.devices.emulator.emulator import DYING_SECONDS, Emulator
from distrl.devices.emulator.emulator_pictures import EmulatorPictures
from distrl.errors import (
    DeviceError,
    DeviceNotReady,
    DeviceTimeout,
    DistrlError,
    EmulatorStopped,
)
from distrl.hierarchy import Element
from distrl.records import Action, Screen

RECONNECT_SECONDS = 2.0  # deadline for adb to reconnect to an emulator
NewEmulator = Callable[[], Emulator]


@dataclass(frozen=True, slots=True)
class EmulatorPoolSettings(Checked):
    """Sizes, and intervals in seconds."""

    count: Annotated[int, Bounds(1, unit="in use at once")] = 1
    spares: Annotated[int, Bounds(0, unit="booted beside them")] = 1
    boots_at_once: Annotated[int, Bounds(1)] = 4
    look_seconds: float = 5.0  # between two health checks of the spares
    retry_seconds: float = 2.0  # after a boot that failed; doubled each time
    max_retry_seconds: float = 120.0
    give_up_after: Annotated[int, Bounds(1, unit="boots in a row that failed")] = 5


@dataclass(slots=True)
class PoolCounts:
    """Counts of events since the pool was started."""

    boots: int = 0
    failed_boots: int = 0
    crashes: int = 0
    hangs: int = 0


class EmulatorPool:
    """The pool, as a context manager. Any thread may `take` and `give_back`."""

    def __init__(self, new_emulator: NewEmulator, settings: EmulatorPoolSettings) -> None:
        self.settings = settings
        self._new_emulator = new_emulator
        self._change = threading.Condition()
        self.ready: deque[Emulator] = deque()
        self.in_use: list[Emulator] = []
        self.booting: list[threading.Thread] = []
        self._under_way: list[Emulator] = []  # emulators that are being booted
        self.counts = PoolCounts()
        self._failed_in_a_row = 0
        self._last_failure: DistrlError | None = None
        self._no_boot_before = Deadline(0.0)
        self._closed = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="emulator pool", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop every emulator of this pool, those in use too."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()
        with self._change:
            threads, under_way = list(self.booting), list(self._under_way)
        for emulator in under_way:
            emulator.stop()  # this ends its boot at once
        for thread in threads:
            thread.join()
        for emulator in (*self.ready, *self.in_use):
            emulator.stop()
        self.ready.clear()
        self.in_use.clear()

    # For devices -------------------------------------------------------------------------------

    def take(self, seconds: float) -> Emulator:
        """Wait at most `seconds` for a healthy emulator, and return it."""
        deadline = Deadline(seconds)
        with self._change:
            while not self._closed:
                while self.ready:
                    emulator = self.ready.popleft()
                    if emulator.running:
                        self.in_use.append(emulator)
                        self._change.notify_all()
                        return emulator
                    self.counts.crashes += 1
                    emulator.stop()
                if self._failed_in_a_row >= self.settings.give_up_after:
                    raise EmulatorStopped(
                        f"{self._failed_in_a_row} emulators in a row did not boot; the last: "
                        f"{self._last_failure}"
                    )
                if deadline.passed:
                    raise DeviceTimeout(
                        f"no emulator was ready within {seconds:g} s: {self._status()}"
                    )
                self._change.wait(min(max(deadline.left, 0.0), 1.0))
        raise EmulatorStopped("the pool of emulators is closed")

    def give_back(self, emulator: Emulator, *, healthy: bool) -> None:
        """Return an emulator; a broken one is stopped and replaced."""
        keep = healthy and emulator.running
        crashed = not keep and emulator.ends_within(DYING_SECONDS)
        with self._change:
            if emulator not in self.in_use:
                return  # already counted as crashed and stopped
            self.in_use.remove(emulator)
            if keep:
                self.ready.append(emulator)
            else:
                self._count_loss(crashed)
            self._change.notify_all()
        if not keep:
            emulator.stop()

    # The pool's thread -------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._change:
                if self._closed:
                    return
                self._boot_missing()
                self._change.wait(self.settings.look_seconds)
                watched = list(self.ready)
            for emulator in watched:
                self._check_spare(emulator)
            self._drop_crashed()

    def _boot_missing(self) -> None:
        wanted = self.settings.count + self.settings.spares
        there = len(self.ready) + len(self.in_use) + len(self.booting)
        room = self.settings.boots_at_once - len(self.booting)
        given_up = self._failed_in_a_row >= self.settings.give_up_after
        if given_up or not self._no_boot_before.passed:
            return
        for _ in range(min(wanted - there, room)):
            thread = threading.Thread(target=self._boot, name="emulator boot", daemon=True)
            self.booting.append(thread)
            thread.start()

    def _boot(self) -> None:
        emulator, failure = None, None
        try:
            emulator = self._new_emulator()
            with self._change:
                self._under_way.append(emulator)
            if not self._closed:
                emulator.boot()
        except DistrlError as error:
            failure = error
        finally:
            with self._change:
                self.booting.remove(threading.current_thread())
                if emulator is not None:
                    self._under_way.remove(emulator)
                self.counts.boots += 1
                if emulator is not None and emulator.running and failure is None:
                    self._failed_in_a_row = 0
                    self.ready.append(emulator)
                else:
                    self._on_failed_boot(failure)
                self._change.notify_all()

    def _on_failed_boot(self, failure: DistrlError | None) -> None:
        seconds = self.settings.retry_seconds * 2.0 ** min(self._failed_in_a_row, 30)
        self.counts.failed_boots += 1
        self._failed_in_a_row += 1
        self._last_failure = failure
        self._no_boot_before = Deadline(min(seconds, self.settings.max_retry_seconds))

    def _check_spare(self, emulator: Emulator) -> None:
        """Stop a spare that does not answer, before a device takes it."""
        if emulator.answers():
            return
        crashed = emulator.ends_within(DYING_SECONDS)
        with self._change:
            if emulator not in self.ready:
                return
            self.ready.remove(emulator)
            self._count_loss(crashed)
        emulator.stop()

    def _drop_crashed(self) -> None:
        """Drop crashed emulators in use, so that replacements boot; their users get an error."""
        with self._change:
            dead = [each for each in self.in_use if not each.running]
            for emulator in dead:
                self.in_use.remove(emulator)
                self._count_loss(crashed=True)
        for emulator in dead:
            emulator.stop()

    def _count_loss(self, crashed: bool) -> None:
        self.counts.crashes += crashed
        self.counts.hangs += not crashed

    def _status(self) -> str:
        failure = f"; the last failure: {self._last_failure}" if self._last_failure else ""
        return (
            f"{len(self.in_use)} in use, {len(self.booting)} booting, "
            f"{self.counts.failed_boots} boots failed{failure}"
        )


class EmulatedDevice:
    """Implements `Device` with an `AdbDevice` on an emulator of the pool."""

    blocking = True

    def __init__(
        self,
        name: str,
        pool: EmulatorPool,
        settings: AndroidDeviceSettings | None = None,
        take_seconds: float = 300.0,
    ) -> None:
        self.name = name
        self._pool = pool
        # An emulator that answered recently and is now gone has died: taking a spare is quicker
        # than waiting for it.
        self._settings = replace(
            settings or AndroidDeviceSettings(), reconnect_seconds=RECONNECT_SECONDS
        )
        self._take_seconds = take_seconds
        self._emulator: Emulator | None = None
        self._phone: AdbDevice | None = None
        self._pictures: EmulatorPictures | None = None

    @property
    def serial(self) -> str:
        """The serial of its current emulator; empty before the first reset."""
        return self._emulator.serial if self._emulator else ""

    @property
    def seconds(self) -> float:
        return self._phone.seconds if self._phone else 0.0

    def reset(self, seed: int) -> None:
        """Load the snapshot; replace the emulator if it does not answer or the reset fails."""
        if self._emulator is None or not self._emulator.answers():
            self._replace()
        try:
            self._here().reset(seed)
        except DeviceError:
            self._replace()
            self._here().reset(seed)

    def _replace(self) -> None:
        self._hand_back(healthy=False)
        emulator = self._pool.take(self._take_seconds)
        self._emulator = emulator
        self._pictures = emulator.pictures()
        ways = (*CAPTURES, self._pictures) if self._pictures is not None else CAPTURES
        self._phone = AdbDevice(
            self.name, emulator.link, self._settings, emulator.fresh_start, ways
        )

    def _hand_back(self, *, healthy: bool) -> None:
        if self._phone is not None:
            self._phone.close()
        if self._pictures is not None:
            self._pictures.close()
        if self._emulator is not None:
            self._pool.give_back(self._emulator, healthy=healthy)
        self._emulator = self._phone = self._pictures = None

    def screen(self) -> Screen:
        return self._here().screen()

    def perform(self, action: Action) -> Screen:
        return self._here().perform(action)

    def elements(self) -> tuple[Element, ...]:
        return self._here().elements()

    def close(self) -> None:
        """Return the emulator to the pool, which reuses it if it answers."""
        self._hand_back(healthy=self._emulator is not None and self._emulator.answers())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _here(self) -> AdbDevice:
        if self._phone is None:
            raise DeviceNotReady(f"device {self.name}: call reset(seed) before anything else")
        return self._phone
