"""Detects that a policy unlearns: recent success is less than half of what it once was.

Reinforcement learning can collapse within a dozen updates and never recover; an unattended run
would go on for hours. The last `EPISODES` judged training episodes are compared with the best
earlier window of the same size, by their confidence intervals, so that neither luck nor a
curriculum that makes tasks harder looks like a collapse. With several environments, each window has
as many episodes of each: a larger share of episodes from a harder one does not count as a fall.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from distrl.episodes.outcome import SuccessRate

EPISODES = 50
LEAST = 0.2  # least distance between the intervals, as a success rate
REMEDY = (
    "Smaller steps keep a policy from it: a lower learning.step.learning_rate, a higher "
    "learning.learner.batch_trajectories, or learning.a_ride.advantage=filtered"
)


class SuccessWatch:
    """Compares recent success with the best; `record` every judged episode once, as it ends."""

    def __init__(self, environments: Sequence[str] = ()) -> None:
        names = environments or [""]
        self._recent = {name: deque[bool](maxlen=EPISODES) for name in names}
        self._best = SuccessRate(0, 0)
        self._best_version = 0
        self.has_fallen = False
        self._warning = ""
        self.unkept_best: int | None = None  # weight version of the best window, until `best_kept`

    def record(self, *, success: bool, version: int, environment: str = "") -> None:
        """Record an episode; `version` is that of the weights that played it."""
        if environment not in self._recent:
            return
        self._recent[environment].append(success)
        if min(map(len, self._recent.values())) < EPISODES:
            return
        now = SuccessRate(sum(map(sum, self._recent.values())), EPISODES * len(self._recent))
        if now.successes > self._best.successes:
            self._best, self._best_version, self.unkept_best = now, version, version
        high, best_low = now.interval[1], self._best.interval[0]
        if not self.has_fallen and high < min(best_low / 2, best_low - LEAST):
            self.has_fallen = True
            self._warning = (
                f"success fell from {self._best.rate:.0%} (weights {self._best_version}) to "
                f"{now.rate:.0%} (weights {version}) of {now.episodes} episodes: the policy "
                f"unlearns. {REMEDY}"
            )
        elif self.has_fallen and now.rate >= best_low:
            self.has_fallen = False

    def best_kept(self, version: int) -> None:
        """Clear `unkept_best`: its weights are saved, unless there are better ones since."""
        if self.unkept_best == version:
            self.unkept_best = None

    def pop_warning(self) -> str:
        """Return a warning once for each fall, else an empty string."""
        sentence, self._warning = self._warning, ""
        return sentence
