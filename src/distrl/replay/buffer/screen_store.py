"""Every screen of the replay, once: packed, found by its content, counted by its users.

Phones show the same launcher and the same waiting page thousands of times; here each is kept once.
`keep` takes one reference for its caller and `release` gives one back; with the last one the screen
leaves. `nbytes` is at every moment the sum over what is in. The replay buffer calls it.
"""

from __future__ import annotations

from distrl.records import Screen
from distrl.replay.compressed_screen import CompressedScreen, compress


class ScreenStore:
    """Compressed screens by address, with their number of users."""

    def __init__(self) -> None:
        self._screens: dict[str, CompressedScreen] = {}
        self._users: dict[str, int] = {}
        self._nbytes = 0

    def __len__(self) -> int:
        return len(self._screens)

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def users(self, screen: CompressedScreen) -> int:
        """How many references are held on this content; 0 if it is not in."""
        return self._users.get(screen.address, 0)

    def keep(self, screen: Screen) -> CompressedScreen:
        """The one copy of this screen, with a reference for the caller."""
        packed = compress(screen)
        kept = self._screens.get(packed.address, packed)
        if kept.address not in self._screens:
            self._screens[kept.address] = kept
            self._users[kept.address] = 0
            self._nbytes += kept.nbytes
        self._users[kept.address] += 1
        return kept

    def release(self, screen: CompressedScreen) -> None:
        """Give back one reference."""
        if not self.users(screen):
            raise ValueError(f"{screen!r} was released more often than it was kept")
        self._users[screen.address] -= 1
        if not self._users[screen.address]:
            del self._users[screen.address]
            self._nbytes -= self._screens.pop(screen.address).nbytes
