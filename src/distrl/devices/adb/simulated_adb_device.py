"""A simulated phone served over adb, with its facts available to a judge.

Everything that an agent sees and does goes through adb, as with a real phone. Only the facts use
the served phone's own command `cmd simulation`: its state is fetched for the judge, and changes
that the judge makes to prepare a task are sent back before the next observation. So a run over adb
can be compared with one without adb, episode by episode.
"""

from __future__ import annotations

from typing import Self

from distrl.devices.adb.adb_device import AdbDevice
from distrl.errors import CorruptSnapshot, DeviceDisconnected, DeviceError, JudgeError
from distrl.hierarchy import Element
from distrl.records import Action, Screen, Wait
from phonesim.phone import Phone
from phonesim.snapshot import from_bytes, to_bytes

STATE_FILE = "/data/local/tmp/distrl-state"


class SimulatedAdbDevice:
    """Implements `Device` with an `AdbDevice` on a served phone; judges use its `phone`."""

    blocking = True

    def __init__(self, device: AdbDevice) -> None:
        self.device = device
        self._copy: Phone | None = None
        self._lent: bytes | None = None  # the copy's state when it was handed out

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def seconds(self) -> float:
        return self.device.seconds

    @property
    def phone(self) -> Phone:
        """A copy of the phone in its current state; changes to the copy are sent to the phone.

        Judges read it, so a lost phone raises `JudgeError`.
        """
        try:
            self._return()
            with self.device.at_work():
                return self._fetch()
        except DeviceError as error:
            raise JudgeError(f"device {self.name}: no facts could be had: {error}") from error

    def _fetch(self) -> Phone:
        self.device.shell.run("cmd", "simulation", "snapshot", STATE_FILE)
        self._lent = self.device.link.pull(STATE_FILE)
        try:
            state = from_bytes(self._lent)
        except CorruptSnapshot as error:
            raise DeviceDisconnected(
                f"device {self.name}: its state came damaged: {error}"
            ) from error
        if self._copy is None:
            self._copy = Phone(state.seed, state.drift, state.display)
        self._copy.restore(state)
        return self._copy

    def _return(self) -> None:
        """Send the copy's state to the phone if the judge changed it since it was handed out."""
        lent, self._lent = self._lent, None
        if lent is None or self._copy is None:
            return
        state = to_bytes(self._copy.snapshot())
        if state == lent:
            return
        with self.device.at_work():
            self.device.link.push(state, STATE_FILE)
            self.device.shell.run("cmd", "simulation", "restore", STATE_FILE)
            self.device.choose_typing()  # a restored phone has its default keyboard again

    def reset(self, seed: int) -> None:
        self._lent = None
        self.device.reset(seed)

    def screen(self) -> Screen:
        self._return()
        return self.device.screen()

    def elements(self) -> tuple[Element, ...]:
        self._return()
        return self.device.elements()

    def perform(self, action: Action) -> Screen:
        self._return()
        if isinstance(action, Wait):  # advance the simulated clock instead of really waiting
            self.phone.perform(action)
            return self.screen()
        return self.device.perform(action)

    def close(self) -> None:
        self._lent = None
        self.device.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
