"""The replay buffer: a ring of trajectories, bounded in number and in bytes, drawn by priority.

Promises:

- Draws by priority use the sum-tree: P(τ) = p(τ)^α / Σ p^α. A new trajectory has no measured
  priority yet. It gets the highest priority in the buffer, but at most the highest of the last
  `RECENT` measured ones (1 in an empty buffer), so that everything is likely to be drawn once.
  Without that cap the highest would never fall, as new trajectories would copy it from each other.
- The weight of a draw corrects for the way in which it was drawn: by its own priority, along with
  another attempt at its task, or uniformly.
- Both bounds hold after every call; the oldest are evicted first. Bytes are those of compressed
  screens, each counted once, and of the records around them (`record_bytes`). Trees and arrays,
  about 60 bytes for each place of the ring, come on top.
- A slot id is not reused while the process lives, so a priority update for an evicted trajectory
  has no effect; it is counted.
- A trajectory is stored once: a resend (same id) changes nothing and is reported as such.
- Only judged, non-empty trajectories with log-probabilities of all answer tokens are stored. Others
  are refused in the receipt instead of by an error: lost devices are common, and the learner that
  drains its queue must go on.
- The screens of a drawn trajectory stay compressed until their pixels are read. It stays valid
  after its eviction.

Insert, draw and update cost O(log n). The learner calls it, from one thread at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from distrl.bounds import Bounds, Checked, Fixed
from distrl.errors import UsageError
from distrl.records import Trajectory
from distrl.replay.buffer.entries import Draw, Entry, Outcome, Receipt, flaw, record_bytes
from distrl.replay.buffer.reduction_tree import LARGEST, Floats, Indices, ReductionTree
from distrl.replay.buffer.related_slots import AttemptsByTask, ForksByAttempt
from distrl.replay.buffer.replay_state import ReplayState
from distrl.replay.buffer.screen_store import ScreenStore
from distrl.replay.buffer.sum_tree import SumTree
from distrl.replay.compressed_screen import CompressedScreen

MAX_OTHER_ATTEMPTS = 16  # at the same task, attached to a draw
RECENT = 256  # measured priorities that cap the priority of a new trajectory
COUNTERS = ("inserted", "resent", "refused", "evicted", "drawn", "updated", "stale_updates")


@dataclass(frozen=True, slots=True)
class ReplaySettings(Checked):
    """How much the replay holds and how it draws."""

    capacity: Annotated[int, Bounds(1, 10**9, "trajectories")] = 10_000
    byte_limit: Annotated[int, Bounds(1, unit="bytes of memory")] = 4 * 2**30
    alpha: Annotated[float, Bounds(0.0, 1.0, "(0 draws uniformly, 1 by priority)")] = 0.5
    smallest_priority: Annotated[
        float, Bounds(1e-100, 1.0), Fixed("it only keeps every trajectory drawable")
    ] = 1e-6
    stratified: Annotated[
        bool, Fixed("it only lowers the variance of draws; their probabilities stay the same")
    ] = True


class ReplayBuffer:
    """The most recent judged trajectories, drawn in proportion to priority^alpha."""

    def __init__(self, settings: ReplaySettings | None = None) -> None:
        self.settings = settings or ReplaySettings()
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._clear()

    def _clear(self) -> None:
        """Empty the buffer. It holds slots from `_oldest` up to `_next`; s is at s % capacity."""
        capacity = self.settings.capacity
        self._oldest = self._next = self._rotation = 0
        self._trajectories: list[Trajectory | None] = [None] * capacity
        self._slots: dict[str, int] = {}  # by trajectory id
        self._attempts = AttemptsByTask()
        self._forks = ForksByAttempt()
        self._screens = ScreenStore()
        self._record_bytes = 0
        self._times_drawn = np.zeros(capacity, dtype=np.int64)
        self._priorities = ReductionTree(capacity, np.maximum)
        self._measured: deque[float] = deque(maxlen=RECENT)
        self._shares = SumTree(capacity)  # priority^alpha

    def __len__(self) -> int:
        return self._next - self._oldest

    def __contains__(self, trajectory_id: str) -> bool:
        return trajectory_id in self._slots

    @property
    def nbytes(self) -> int:
        return self._screens.nbytes + self._record_bytes

    # Insertion and eviction ---------------------------------------------------------------------

    def insert(self, trajectory: Trajectory) -> Receipt:
        """Insert a finished trajectory; see `Outcome` for the possible results."""
        if (slot := self._slots.get(trajectory.id)) is not None:
            self._counts["resent"] += 1
            return Receipt(Outcome.RESENT, slot)
        if (why := flaw(trajectory)) is not None:
            return self._refuse(why)
        receipt = self._store(trajectory, self._newcomers_priority())
        if not receipt.held:
            return self._refuse(receipt.outcome)
        self._counts["inserted"] += 1
        self._counts["evicted"] += len(receipt.evicted)
        return receipt

    def _newcomers_priority(self) -> float:
        highest = self._priorities.root
        return min(highest, max(self._measured, default=highest)) or 1.0

    def _refuse(self, outcome: Outcome) -> Receipt:
        self._counts["refused"] += 1
        return Receipt(outcome)

    def _store(self, trajectory: Trajectory, priority: float, times_drawn: int = 0) -> Receipt:
        kept = tuple(self._screens.keep(screen) for screen in trajectory.screens)
        records = record_bytes(trajectory)
        if records + sum(s.nbytes for s in set(kept)) > self.settings.byte_limit:
            for screen in kept:
                self._screens.release(screen)
            return Receipt(Outcome.TOO_LARGE)
        evicted = self._make_room(records)
        slot, place = self._next, self._next % self.settings.capacity
        self._next += 1
        self._slots[trajectory.id] = slot
        self._attempts.add(trajectory.task.id, slot)
        if trajectory.branch is not None:
            self._forks.add(trajectory.attempt_id, slot)
        self._trajectories[place] = replace(trajectory, screens=kept)
        self._times_drawn[place] = times_drawn
        self._record_bytes += records
        self._priorities.set(place, priority)
        self._shares.set(place, priority**self.settings.alpha)
        return Receipt(Outcome.STORED, slot, evicted)

    def _make_room(self, records: int) -> tuple[str, ...]:
        """Evict the oldest until one more fits, whose screens are already in the store."""
        evicted = []
        while len(self) and (
            len(self) >= self.settings.capacity or self.nbytes + records > self.settings.byte_limit
        ):
            evicted.append(self._evict_oldest())
        return tuple(evicted)

    def _evict_oldest(self) -> str:
        place = self._oldest % self.settings.capacity
        trajectory = self._at(place)
        if trajectory.branch is not None:
            self._forks.drop(trajectory.attempt_id, self._oldest)
        self._oldest += 1
        self._trajectories[place] = None
        self._priorities.set(place, 0.0)
        self._shares.set(place, 0.0)
        del self._slots[trajectory.id]
        self._attempts.drop_oldest(trajectory.task.id)
        self._record_bytes -= record_bytes(trajectory)
        for screen in trajectory.screens:
            assert isinstance(screen, CompressedScreen)
            self._screens.release(screen)
        return trajectory.id

    def _at(self, place: int) -> Trajectory:
        trajectory = self._trajectories[place]
        assert trajectory is not None, f"place {place} of the ring is empty"
        return trajectory

    # Draws and priorities -----------------------------------------------------------------------

    def sample(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        beta: float = 0.0,
        together: int = 1,
        uniform: bool = False,
        counted: bool = True,
    ) -> list[Draw]:
        """Draw n times, with replacement, in proportion to priority^alpha, or uniformly.

        `beta` from 0 to 1 sets how much of the sampling bias the weights correct. With `together`
        above 1, draws come in groups of up to that many attempts at one task: the first is drawn,
        the others are sampled whatever their priority; single draws fill up the rest of n. See
        `count_draws` for `counted`.
        """
        if not len(self):
            raise UsageError(f"{n} draws from an empty replay; ask Pacing.may_sample first")
        if n < 1 or together < 1 or not 0.0 <= beta <= 1.0:
            raise UsageError(
                f"{n} draws with beta={beta!r}, {together} together; draw 1 or more, beta in [0, 1]"
            )
        places, probabilities = self._places(n, together, rng, beta > 0.0, uniform=uniform)
        weights = (len(self) * probabilities) ** -beta  # 1 where β is 0, also of NaN
        if counted:
            np.add.at(self._times_drawn, places, 1)
            self._counts["drawn"] += n
        columns = (
            self._slots_at(places),
            map(self._at, places.tolist()),
            self._priorities.values(places).tolist(),
            self._times_drawn[places].tolist(),
            probabilities.tolist(),
            (weights / weights.max()).tolist(),
            [self._siblings(slot) for slot in self._slots_at(places)],
        )
        return [Draw(*values) for values in zip(*columns, strict=True)]

    def count_draws(self, draws: Sequence[Draw]) -> list[Draw]:
        """Count draws that were made with `counted=False`; return them with their counts."""
        slots = np.array([draw.slot_id for draw in draws], dtype=np.int64)
        places = slots % self.settings.capacity
        present = (slots >= self._oldest) & (slots < self._next)
        np.add.at(self._times_drawn, places[present], 1)
        self._counts["drawn"] += len(slots)
        times = np.where(present, self._times_drawn[places], [d.times_drawn + 1 for d in draws])
        return [replace(draw, times_drawn=n) for draw, n in zip(draws, times.tolist(), strict=True)]

    def _places(
        self, n: int, together: int, rng: np.random.Generator, weighted: bool, *, uniform: bool
    ) -> tuple[Indices, Floats]:
        """Draw n places; return them with their probabilities: NaN for groups that are not
        `weighted`, since those probabilities cost a look at every trajectory.
        """
        seeds = self._drawn(n if together == 1 else max(1, n // together), rng, uniform=uniform)
        if together == 1:
            return seeds, self._probabilities(seeds, uniform=uniform)
        slots: list[int] = []
        for slot in self._slots_at(seeds):
            task = self._at(slot % self.settings.capacity).task.id
            slots += [slot, *self._attempts.beside(task, slot, together - 1, rng)]
        grouped = np.array(slots[:n], dtype=np.int64) % self.settings.capacity
        probabilities = np.full(len(grouped), np.nan)
        if weighted:
            probabilities = self._group_probabilities(grouped, together, uniform=uniform)
        if len(grouped) == n:
            return grouped, probabilities
        more = self._drawn(n - len(grouped), rng, uniform=uniform)
        alone = self._probabilities(more, uniform=uniform)
        return np.concatenate([grouped, more]), np.concatenate([probabilities, alone])

    def _drawn(self, n: int, rng: np.random.Generator, *, uniform: bool) -> Indices:
        if uniform:
            return rng.integers(self._oldest, self._next, n) % self.settings.capacity
        return self._shares.sample(n, rng, stratified=self.settings.stratified)

    def _probabilities(self, places: Indices, *, uniform: bool) -> Floats:
        """Return the probability of each of these places in a single draw."""
        if uniform:
            return np.full(len(places), 1.0 / len(self))
        return self._shares.values(places) / self._shares.total

    def _group_probabilities(self, places: Indices, together: int, *, uniform: bool) -> Floats:
        """Return the probability of each of these places in a draw of a group (m = `together`).

        An attempt is in a group by its own draw (P), or by that of one of n − 1 others at its task,
        which adds m − 1: P + (P of the task − P)·(m − 1)/(n − 1), over the expected group size.
        """
        present = np.arange(self._oldest, self._next) % self.settings.capacity
        alone = np.zeros(self.settings.capacity)
        alone[present] = self._probabilities(present, uniform=uniform)
        attempts = [self._attempts.of(self._at(place).task.id) for place in present.tolist()]
        sizes = np.minimum([len(each) for each in attempts], together)
        expected = float((alone[present] * sizes).sum())
        probabilities = []
        for place in places.tolist():
            others = self._attempts.of(self._at(place).task.id)
            own, rest = alone[place], alone[np.array(others) % self.settings.capacity].sum()
            taken = min(1.0, (together - 1) / max(1, len(others) - 1))
            probabilities.append(own + (rest - own) * taken)
        return np.array(probabilities) / expected

    def _slots_at(self, places: Indices) -> list[int]:
        slots: list[int] = (
            self._oldest + (places - self._oldest) % self.settings.capacity
        ).tolist()
        return slots

    def _siblings(self, slot: int) -> tuple[Entry, ...]:
        """Return the other continuations of the attempt that are stored, itself included."""
        attempt = self._at(slot % self.settings.capacity).attempt_id
        forks = self._forks.of(attempt)
        if not forks:
            return ()
        whole = [self._slots[attempt]] if attempt in self._slots else []
        return tuple(self._entry(each) for each in (*whole, *forks) if each != slot)

    def with_attempts(self, draws: Sequence[Draw], most: int = MAX_OTHER_ATTEMPTS) -> list[Draw]:
        """Attach to each draw the newest `most` of the other attempts at its task."""
        return [replace(each, attempts=self._beside(each.trajectory, most)) for each in draws]

    def _beside(self, drawn: Trajectory, most: int) -> tuple[Trajectory, ...]:
        slots = reversed(self._attempts.of(drawn.task.id))
        tried = (self._at(slot % self.settings.capacity) for slot in slots)
        return tuple(islice((t for t in tried if t.attempt_id != drawn.attempt_id), most))

    def update_priorities(self, slot_ids: ArrayLike, priorities: ArrayLike) -> int:
        """Set the priorities of these slots; return how many of them were already evicted.

        Priorities below `smallest_priority` are raised to it. For NaN, infinite or negative ones
        raise ValueError and change nothing.
        """
        slots = np.asarray(slot_ids, dtype=np.int64)
        given = np.asarray(priorities, dtype=np.float64)
        if slots.ndim != 1 or slots.shape != given.shape:
            raise ValueError(f"{slots.shape} slot ids and {given.shape} priorities; give [n] each")
        if not ((given >= 0.0) & (given <= LARGEST)).all():
            raise ValueError(f"priorities lie between 0 and {LARGEST:g}, got {given.tolist()}")
        present = (slots >= self._oldest) & (slots < self._next)
        stale = len(slots) - int(np.count_nonzero(present))
        if stale:
            slots, given = slots[present], given[present]
        places = slots % self.settings.capacity
        raised = np.maximum(given, self.settings.smallest_priority)
        self._priorities.update(places, raised)
        self._shares.update(places, raised**self.settings.alpha)
        self._measured.extend(raised.tolist())
        self._counts["updated"] += len(slots)
        self._counts["stale_updates"] += stale
        return stale

    def next_slice(self, n: int) -> list[Entry]:
        """Return the next n slots (at most all) of a round-robin from old to new, for refreshes."""
        entries = []
        for _ in range(min(n, len(self))):
            if not self._oldest <= self._rotation < self._next:
                self._rotation = self._oldest
            entries.append(self._entry(self._rotation))
            self._rotation += 1
        return entries

    def _entry(self, slot: int) -> Entry:
        place = slot % self.settings.capacity
        priority = float(self._priorities.values(place))
        return Entry(slot, self._at(place), priority, int(self._times_drawn[place]))

    # For checkpoints and reports ----------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state, with ids for trajectories, oldest first: arrays and JSON values."""
        places = np.arange(self._oldest, self._next) % self.settings.capacity
        return ReplayState(
            next_slot=self._next,
            rotation=self._rotation,
            ids=[self._at(place).id for place in places.tolist()],
            priorities=self._priorities.values(places),
            times_drawn=self._times_drawn[places],
            measured=list(self._measured),
            counts=self._counts,
        ).to_dict()

    def load_state(
        self, state: dict[str, Any], find: Callable[[str], Trajectory | None]
    ) -> tuple[str, ...]:
        """Restore a state of `state_dict`; return the ids of trajectories that are lost.

        `find` looks a trajectory up by its id (None: lost). With the same settings and nothing
        lost, all later draws are the same as without the interruption.
        """
        saved = ReplayState.from_dict(state)
        self._clear()
        self._next = self._oldest = saved.next_slot - len(saved.ids)
        lost = []
        slots = zip(saved.ids, saved.priorities.tolist(), saved.times_drawn.tolist(), strict=True)
        for name, priority, times_drawn in slots:
            trajectory = find(name)
            if (
                trajectory is None
                or flaw(trajectory) is not None
                or not self._store(trajectory, priority, times_drawn).held
            ):
                lost.append(name)
        self._rotation = saved.rotation
        self._measured.extend(saved.measured)
        self._counts |= saved.counts
        return tuple(lost)

    def gauges(self) -> dict[str, float]:
        """Return the figures for a dashboard; each is O(1)."""
        inserted = self._counts["inserted"]
        return {
            "trajectories": float(len(self)),
            "screens": float(len(self._screens)),
            "bytes": float(self.nbytes),
            "screen_bytes": float(self._screens.nbytes),
            "bytes_share": self.nbytes / self.settings.byte_limit,
            "largest_priority": self._priorities.root,
            "mean_share": self._shares.total / len(self) if len(self) else 0.0,
            "samples_per_insert": self._counts["drawn"] / inserted if inserted else 0.0,
            **{name: float(count) for name, count in self._counts.items()},
        }
