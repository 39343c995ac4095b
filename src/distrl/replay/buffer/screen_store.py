"""A content-addressed, reference-counted store of the compressed screens of the replay buffer.

Phones show the same launcher and the same loading page thousands of times; here each is kept once.
`keep` adds a reference and `release` removes one; a screen without references is deleted. `nbytes`
is always the sum over the stored screens. The replay buffer calls it.
"""

from __future__ import annotations

from distrl.records import Screen
from distrl.replay.compressed_screen import CompressedScreen, compress


class ScreenStore:
    """Compressed screens by address, with their reference counts."""

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
        """Return the reference count of this content; 0 if it is not stored."""
        return self._users.get(screen.address, 0)

    def keep(self, screen: Screen) -> CompressedScreen:
        """Add a reference to this screen and return its only stored copy."""
        packed = compress(screen)
        kept = self._screens.get(packed.address, packed)
        if kept.address not in self._screens:
            self._screens[kept.address] = kept
            self._users[kept.address] = 0
            self._nbytes += kept.nbytes
        self._users[kept.address] += 1
        return kept

    def release(self, screen: CompressedScreen) -> None:
        """Remove one reference."""
        if not self.users(screen):
            raise ValueError(f"{screen!r} was released more often than it was kept")
        self._users[screen.address] -= 1
        if not self._users[screen.address]:
            del self._users[screen.address]
            self._nbytes -= self._screens.pop(screen.address).nbytes
