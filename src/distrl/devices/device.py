"""The interface of every phone: simulated, an emulator, or a handset on a cable.

`Device` is the boundary between DistRL and phones: a collector accesses a phone only through it.
Every implementation keeps this contract:

- A device must be reset before any other call; until then every call raises `DeviceNotReady`.
- `reset` returns the phone to a clean state: nothing from the previous episode is left on it.
- Each failure raises a typed `DeviceError`; no sentinel or blank picture reports a failure.
- After a `DeviceError` the device is out of order: every call raises again until it is reset.
- An action that this phone cannot carry out (a letter that it cannot type) raises `ActionFailed`:
  the phone is unchanged and stays usable.
- A device with `blocking = False` only computes and never waits: a collector runs all such devices
  in one thread.
- A device that can be restored to an earlier step of its episode implements `Forkable`; other
  devices lack the two methods, and callers never call them.
- Actions that are only said (`ONLY_SAID`: the final actions, `AskUser` and `Unreadable`) leave the
  phone untouched and cost no device time.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from distrl.hierarchy import Element
from distrl.records import Action, Screen


class Device(Protocol):
    """A phone that can be reset, observed and operated. One thread uses it at a time."""

    @property
    def name(self) -> str:
        """Unique among the devices of a run."""
        ...

    @property
    def blocking(self) -> bool:
        """Whether a call may block (on a process or on a delay); the device then needs a thread."""
        ...

    @property
    def seconds(self) -> float:
        """Device time in seconds since the last reset began, including the reset itself."""
        ...

    def reset(self, seed: int) -> None:
        """Bring the phone into a clean state, ready for use. Equal seeds give equal phones."""
        ...

    def screen(self) -> Screen:
        """Wait until the screen has settled, and return it."""
        ...

    def perform(self, action: Action) -> Screen:
        """Carry out the action, wait until the screen has settled, and return it."""
        ...

    def elements(self) -> tuple[Element, ...]:
        """Return the elements on the settled screen, in drawing order."""
        ...

    def close(self) -> None:
        """Release the device's resources. Only a reset makes it usable again."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


@runtime_checkable
class Forkable(Protocol):
    """A device that also saves and restores its state, so that episodes can fork at any step."""

    def snapshot(self) -> Any:
        """Return a copy of the phone's state; later actions on the phone do not change the copy."""
        ...

    def restore(self, state: Any) -> None:
        """Restore the phone to a snapshot taken in the same episode."""
        ...
