"""Matched screens: steps where several attempts at one task showed the same screen.

Attempts at a task begin alike and diverge somewhere. Where they show the same screen, their later
outcomes are what continuations from that step would have given. So the advantage can be measured
as with forks (`Continuations`), but from the replay alone and without extra episodes; it also works
on devices that cannot be restored. The idea is from UI-Voyager (arXiv 2603.24533, of which we know
only the abstract): it compares screens in groups of attempts to find fork points, and turns the
successful attempts into supervision for the failed ones. Here they only give the advantage of a
policy gradient.

- Screens match if all pixels below the status bar, which has a clock, are equal. That is strict: an
  animation, a cursor or an advertisement makes two screens differ. UI-Voyager is said to match by
  similarity.
- A step is measured only if from that screen some of the others succeeded and some failed;
  otherwise the critic's estimate stays. So at least two others are needed, and more are better. The
  outcome of the draw itself must not matter: a baseline b is unbiased,
  Σ_a π(a)·∇log π(a)·b = 0, only if it is the same for every answer a. Suppose others whose outcome
  differs from the draw's were enough. Where all others failed, b would be 0 for a draw that
  succeeds and the critic's V for one that fails, and the gradient there (γ = 1)

      Σ_a π(a)·∇log π(a)·(G(a) − V·1{a fails}) = (1 + V)·∇E[G]

- Each other attempt counts once, from its first step on that screen. A branch counts from its own
  steps only, since its first ones are its parent's. Relatives of the draw (branches of the same
  attempt) are left to `continuations_of`.

A screen is not the whole state of a phone. Attempts that reach it earlier have more steps left, and
earlier changes elsewhere are not visible on it; forks have neither of these errors.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

from distrl.learning.batch import Continuations, continued
from distrl.learning.targets.rewards import below_status_bar
from distrl.records import Screen, Trajectory
from distrl.replay.buffer.entries import Draw


class MatchedScreens:
    """Finds matched screens between draws and their `attempts`. Thread-safe.

    A screen is decompressed once; an LRU cache keeps the digests of the last `most` screens.
    """

    def __init__(self, status_bar: float, most: int) -> None:
        self._status_bar = status_bar
        self._most = most
        self._known: OrderedDict[str, bytes] = OrderedDict()  # digests by `Screen.address`
        self._lock = threading.Lock()

    def continuations(self, draws: Sequence[Draw]) -> list[Continuations]:
        """Return the steps of the draws from whose screen others both succeeded and failed."""
        found = []
        for row, draw in enumerate(draws):
            others = [(each, self._first_steps(each)) for each in draw.attempts]
            drawn, first = draw.trajectory, draw.trajectory.first_step
            for step in range(first, len(drawn.decisions) if others else first):
                shown, own = self._shown(drawn.screens[step]), continued(drawn, step)
                rest = tuple(
                    continued(each, steps[shown]) for each, steps in others if shown in steps
                )
                if len({each.success for each in rest}) == 2:
                    found.append(Continuations(row, step - first, own, rest))
        return found

    def _first_steps(self, trajectory: Trajectory) -> dict[bytes, int]:
        """Map each screen's digest to the first of the trajectory's own steps that showed it."""
        steps: dict[bytes, int] = {}
        for step in range(trajectory.first_step, len(trajectory.decisions)):
            steps.setdefault(self._shown(trajectory.screens[step]), step)
        return steps

    def _shown(self, screen: Screen) -> bytes:
        address = screen.address
        with self._lock:
            digest = self._known.pop(address, None)
        if digest is None:
            shown = below_status_bar(screen, self._status_bar)
            digest = hashlib.blake2b(shown, digest_size=16).digest()
        with self._lock:
            self._known[address] = digest  # most recently used
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return digest
