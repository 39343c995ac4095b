"""The learner's side of joined collectors that ask its policy.

Decisions come from the process that serves the collectors of this machine (`engine.policy`), by the
same client (`serving.policy_client`), so a replacement of that process costs a wait. Members ask at
most `AT_ONCE` at a time each and `ALL_AT_ONCE` together, and play at most `MAX_EPISODES` episodes
each; what is beyond that is refused, and counted, and may be asked again later.

Waiting takes no thread. The episodes of a member whose session has ended are dropped with its next
one, or by the policy server when they are silent.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

from distrl.engine.join.decision_wire import Ask, PolicyQuestion, observation_in
from distrl.engine.serving.decision_messages import PackedDecision, packed_decision
from distrl.engine.serving.policy_client import PolicyClient, ServerLine
from distrl.engine.serving.policy_server import ServerReport
from distrl.errors import JoinRefused, PolicyServerGone
from distrl.records import Decision, Observation
from distrl.watched_threads import WatchedThreads

AT_ONCE, ALL_AT_ONCE = 64, 256  # requests of one member, and of all
MAX_EPISODES = 1024  # of one member; the oldest is dropped for a newer one
ANSWER_SECONDS = 20.0  # for a decision; the member asks again after that
LAST_SECONDS = 5.0


@dataclass(slots=True)
class DecisionRelay:
    """Asks the policy process for joined collectors. A context manager."""

    find: Callable[[], ServerLine | None]
    _client: PolicyClient = field(init=False)
    _episodes: dict[str, OrderedDict[str, int]] = field(default_factory=dict)  # handles, by member
    _asking: Counter[str] = field(default_factory=Counter)  # by member
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: bool = False
    _polls: WatchedThreads = field(init=False)

    def __post_init__(self) -> None:
        self._client = PolicyClient("joined", self.find, ANSWER_SECONDS)
        serve = self._client.serve
        self._polls = WatchedThreads("joined policy", lambda: serve(self._goes_on), lambda: None)

    def __enter__(self) -> Self:
        self._polls.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._client.close()
        self._polls.join(LAST_SECONDS)

    def _goes_on(self) -> bool:
        return not self._over

    async def decide(self, member: str, ask: Ask) -> PackedDecision:
        """The policy's decision; `JoinRefused` where there is none now."""
        with self._place(member):
            loop = asyncio.get_running_loop()
            observation = await loop.run_in_executor(None, observation_in, ask)
            try:
                decision = await self._decision(member, ask.request.session, observation)
            except PolicyServerGone as error:
                raise JoinRefused(f"no decision now: {error}", "no_decision", 503) from error
            return packed_decision(ask.request.number, decision)

    async def _decision(self, member: str, episode: str, observation: Observation) -> Decision:
        handle = self._handle(member, episode)
        return await asyncio.wrap_future(self._client.submit(handle, observation))

    @contextlib.contextmanager
    def _place(self, member: str) -> Iterator[None]:
        with self._lock:
            if self._asking[member] >= AT_ONCE or self._asking.total() >= ALL_AT_ONCE:
                raise JoinRefused(
                    f"{self._asking[member]} decisions are under way for this collector, "
                    f"{self._asking.total()} for all; ask again later",
                    "too_many_decisions",
                    429,
                )
            self._asking[member] += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking[member] -= 1
                if not self._asking[member]:
                    del self._asking[member]

    def _handle(self, member: str, episode: str) -> int:
        with self._lock:
            episodes = self._episodes.setdefault(member, OrderedDict())
            if episode not in episodes:
                episodes[episode] = self._client.enter()
            dropped = episodes.popitem(last=False)[1] if len(episodes) > MAX_EPISODES else None
            handle = episodes[episode]
        if dropped is not None:
            self._client.leave(dropped)
        return handle

    def report(self, member: str, question: PolicyQuestion) -> ServerReport | None:
        """End episodes; return the last report of the policy server; None: it is loading."""
        with self._lock:
            episodes = self._episodes.get(member, OrderedDict())
            ended = [episodes.pop(each) for each in question.ended if each in episodes]
            if not episodes:
                self._episodes.pop(member, None)
        for handle in ended:
            self._client.leave(handle)
        return self._client.seen


def no_policy() -> JoinRefused:
    return JoinRefused(
        "this run has no policy process that decides for others: start the learner with "
        "--set engine.policy=node, or join with --policy own",
        "no_policy",
        404,
    )
