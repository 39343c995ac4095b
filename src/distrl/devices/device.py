"""What every phone can do, whether it is simulated, an emulator or a handset on a cable.

This is the seam between DistRL and phones: a collector holds a `Device` and nothing else of it. The
contract that each of them keeps:

- A device must be reset before anything else; until then every call raises `DeviceNotReady`.
- `reset` gives a clean phone: nothing of the episode before is left on it.
- Each failure is a typed `DeviceError`; nothing is reported by a sentinel or a blank picture.
- After a `DeviceError` the device is out of order: every call raises again until it is reset.
- An action that this phone cannot carry out (a letter that it cannot type) is an `ActionFailed`:
  the phone is as it was and stays usable.
- A device with `blocking = False` computes and never waits: a collector advances all of them in one
  thread.
- A device that can be put back to an earlier moment of its episode is `Forkable`; others lack the
  two methods, and are never asked.
- What the agent only says (the final actions and `Unreadable`) leaves the phone untouched and
  costs no device time.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from distrl.hierarchy import Element
from distrl.records import Action, Screen


class Device(Protocol):
    """A phone that can be reset, looked at and operated. One thread uses it at a time."""

    @property
    def name(self) -> str:
        """Unique among the devices of a run."""
        ...

    @property
    def blocking(self) -> bool:
        """Whether a call may wait, for a process or for time to pass; it then needs a thread."""
        ...

    @property
    def seconds(self) -> float:
        """Device time spent since the last reset began, the reset itself included."""
        ...

    def reset(self, seed: int) -> None:
        """A clean phone, ready for use. The same seed gives the same phone."""
        ...

    def screen(self) -> Screen:
        """What is on the screen once it has settled."""
        ...

    def perform(self, action: Action) -> Screen:
        """Act, let the screen settle, and look at it."""
        ...

    def elements(self) -> tuple[Element, ...]:
        """What stands on the settled screen, in drawing order."""
        ...

    def close(self) -> None:
        """Give back what the device holds. Only a reset brings it to life again."""
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
    """What a device can do beside, where an episode can be played on from any of its steps."""

    def snapshot(self) -> Any:
        """The phone as it is now; it stays so, whatever is done to the phone later."""
        ...

    def restore(self, state: Any) -> None:
        """Put the phone back to a snapshot of the same episode."""
        ...
