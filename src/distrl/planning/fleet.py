"""The simulated phones and collectors: one episode after the other on each phone.

    booked ─► reset ─► first look ─► (ask ─► answer ─► act) … ─► deliver ─► acknowledged ─► booked
       └── not admitted: waits until the learner's pace lets it start

Each phone belongs to one collector and to one copy of the policy. A collector does its own work
serially, in order of arrival, since Python runs one thread at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from distrl.planning.draw_pool import of_episodes, of_lengths, of_phone, of_seconds, of_shares
from distrl.planning.event_queue import EventQueue, Level
from distrl.planning.plan_settings import PlanSettings
from distrl.planning.planned_batcher import PlannedBatcher
from distrl.planning.planned_learner import BROKEN, PlannedLearner


@dataclass(slots=True)
class PlannedPhone:
    """The state of one phone in its episode."""

    collector: int
    batcher: PlannedBatcher
    slowdown: float
    factor: float = 1.0  # by which this episode's waits are multiplied
    decisions_left: int = 0
    spoken_end: bool = False
    version: int | None = None  # of the first decision
    began: float = 0.0


class Fleet:
    """All phones. `levels` has the number of phones in each state over time."""

    def __init__(self, settings: PlanSettings, events: EventQueue, seed: int) -> None:
        self.levels = {
            name: Level(events)
            for name in ("reset", "act", "decide", "deliver", "admission", "own")
        }
        self.in_flight = Level(events)
        self.episodes = 0  # acknowledged
        self.decisions = 0
        self.episode_seconds = 0.0
        self._settings = settings
        self._events = events
        self._reset, self._look, self._step = of_phone(settings.phones, seed)
        self._factor = of_episodes(settings.phones, seed)
        self._length = of_lengths(settings.episodes, seed)
        self._spoken = of_shares(settings.episodes.spoken_ends, "spoken", seed)
        self._broken = of_shares(settings.episodes.broken, "broken", seed)
        self._acknowledge = of_seconds(settings.collectors.acknowledge, "acknowledge", seed)
        self._travel = of_seconds(settings.policy.travel, "travel", seed)
        self._processor_free = [0.0] * settings.collectors.count
        self._barred: dict[int, deque[int]] = {}  # phones that may not start, by batcher
        self._asking_again = False

    def put_to_work(self, batchers: Sequence[PlannedBatcher], learner: PlannedLearner) -> None:
        """Start the first episode on every phone."""
        self._learner = learner
        slowdowns, collectors = self._settings.phones.slowdowns, self._settings.collectors.count
        self._phones = [
            PlannedPhone(n % collectors, batchers[n % len(batchers)], slowdowns[n % len(slowdowns)])
            for n in range(self._settings.phones.count)
        ]
        self._barred = {batcher.number: deque() for batcher in batchers}
        for number in range(len(self._phones)):
            self._book(number)

    @property
    def unloaded_seconds(self) -> float:
        """Mean length of an episode without any waiting for other parts."""
        policy, episodes = self._settings.policy, self._settings.episodes
        length = self._length.mean
        acts = length - episodes.spoken_ends
        slowdowns = self._settings.phones.slowdowns
        slow = sum(slowdowns) / len(slowdowns)
        playing = self._look.mean + acts * self._step.mean
        thinking = length * (policy.batch_seconds[0] + self._travel.mean)
        return slow * (self._reset.mean + self._factor.mean * playing) + thinking

    # Starting -----------------------------------------------------------------------------------

    def _book(self, number: int) -> None:
        phone = self._phones[number]
        if self._learner.may_start(phone.batcher.version, self.in_flight.value):
            self._start(number)
        else:
            self.levels["admission"].add(1)
            self._barred[phone.batcher.number].append(number)

    def ask_again(self) -> None:
        """Retry admission of the phones that may not start, after half a poll interval."""
        if not self._asking_again and self.levels["admission"].value:
            self._asking_again = True
            self._events.after(self._settings.collectors.poll_seconds / 2, self._let_start)

    def _let_start(self) -> None:
        self._asking_again = False
        for barred in self._barred.values():
            while barred:
                phone = self._phones[barred[0]]
                if not self._learner.may_start(phone.batcher.version, self.in_flight.value):
                    break
                self.levels["admission"].add(-1)
                self._start(barred.popleft())

    def _start(self, number: int) -> None:
        phone = self._phones[number]
        self.in_flight.add(1)
        phone.began = self._events.now
        phone.factor = phone.slowdown * self._factor.draw()
        phone.decisions_left = int(self._length.draw())
        phone.spoken_end = bool(self._spoken.draw())
        phone.version = None
        self.levels["reset"].add(1)
        self._events.after(phone.slowdown * self._reset.draw(), self._has_reset, number)

    def _has_reset(self, number: int) -> None:
        phone = self._phones[number]
        self.levels["reset"].add(-1)
        self.levels["act"].add(1)
        self._events.after(phone.factor * self._look.draw(), self._has_looked, number)

    def _has_looked(self, number: int) -> None:
        self._phones[number].batcher.enter()
        self._has_acted(number)

    # Playing ------------------------------------------------------------------------------------

    def _has_acted(self, number: int) -> None:
        self.levels["act"].add(-1)
        self.levels["own"].add(1)
        wait = self._processor(number, self._settings.collectors.seconds_per_step)
        if wait > 0.0:
            self._events.after(wait, self._goes_on, number)
        else:
            self._goes_on(number)

    def _processor(self, number: int, seconds: float) -> float:
        """Seconds until the collector's processor has done this work for the phone."""
        if not seconds:
            return 0.0
        collector, now = self._phones[number].collector, self._events.now
        free = max(now, self._processor_free[collector]) + seconds
        self._processor_free[collector] = free
        return free - now

    def _goes_on(self, number: int) -> None:
        phone = self._phones[number]
        self.levels["own"].add(-1)
        if not phone.decisions_left:
            self._is_over(number)
            return
        self.levels["decide"].add(1)
        travel = self._travel.draw()
        if travel > 0.0:
            self._events.after(travel, phone.batcher.ask, number)
        else:
            phone.batcher.ask(number)

    def answered(self, number: int, version: int) -> None:
        """Continue the episode of a phone for which a batcher has decided."""
        phone = self._phones[number]
        self.levels["decide"].add(-1)
        self.decisions += 1
        phone.decisions_left -= 1
        if phone.version is None:
            phone.version = version
        if not phone.decisions_left and phone.spoken_end:
            self.levels["own"].add(1)
            self._goes_on(number)
            return
        self.levels["act"].add(1)
        self._events.after(phone.factor * self._step.draw(), self._has_acted, number)

    # Ending -------------------------------------------------------------------------------------

    def _is_over(self, number: int) -> None:
        self._phones[number].batcher.leave()
        self.levels["deliver"].add(1)
        own = self._processor(number, self._settings.collectors.seconds_per_episode)
        self._events.after(own + self._acknowledge.draw(), self._is_durable, number)

    def _is_durable(self, number: int) -> None:
        phone = self._phones[number]
        assert phone.version is not None
        version = BROKEN if self._broken.draw() else phone.version
        self._learner.arrive(version, self._is_acknowledged, number)

    def _is_acknowledged(self, number: int) -> None:
        self.levels["deliver"].add(-1)
        self.in_flight.add(-1)
        self.episodes += 1
        self.episode_seconds += self._events.now - self._phones[number].began
        self._book(number)
        self.ask_again()
