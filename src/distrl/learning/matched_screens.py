"""Where several attempts at one task came by the same screen: forks that nobody had to play.

Attempts at a task begin alike and part somewhere. Where they show the same screen, what came of
each from there on is what continuations from that step would have shown, so that the advantage can
be measured as with forks (`Continuations`), and from the replay alone: it also works on phones that
cannot be put back. The idea is UI-Voyager's (arXiv 2603.24533, of which we know the abstract): it
finds fork points in groups of attempts by comparing screens, and makes supervision for failed
attempts of the successful ones. Here they only give the advantage of a policy gradient.

- Screens match if all pixels below the status bar are equal, in which a clock goes on. That is
  strict: an animation, a cursor or an advertisement keeps two attempts apart. UI-Voyager is said to
  match by similarity.
- Only where the others have succeeded and failed from that screen do they measure anything; where
  they all came to the same, the critic's estimate stays. So there must be two others, and better
  more. What came of the draw itself is not looked at: a baseline b is without bias,
  Σ_a π(a)·∇log π(a)·b = 0, if it is the same for every answer a. If others with another outcome
  than the draw's were enough, b among failures would be 0 for a success and the critic's V for one
  more failure, and the gradient there (γ = 1)

      Σ_a π(a)·∇log π(a)·(G(a) − V·1{a fails}) = (1 + V)·∇E[G]

- Each other attempt counts once, from its first step on that screen. Forks of one attempt share
  their beginning, which is the parent's alone; those of the same attempt as the draw are left to
  `continuations_of`, since their beginning is its own.

A screen is not the state of a phone. Attempts that come by it earlier have more steps left, and
what they did elsewhere before is not on it; forks know neither of these errors.
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
    """Finds them for draws that have other attempts beside them. Any thread may ask.

    A screen is unpacked once and known by a digest from then on, the last `most` of them.
    """

    def __init__(self, status_bar: float, most: int) -> None:
        self._status_bar = status_bar
        self._most = most
        self._known: OrderedDict[str, bytes] = OrderedDict()  # digests by address
        self._lock = threading.Lock()

    def continuations(self, draws: Sequence[Draw]) -> list[Continuations]:
        """For each step of these draws whose screen others left for success and for failure."""
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
        """The first of its own steps on each screen."""
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
            self._known[address] = digest  # the last one to be forgotten
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return digest
