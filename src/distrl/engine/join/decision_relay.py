"""The learner's side of joined collectors that ask its policy for decisions.

Decisions come from the process that serves the collectors of this machine (`engine.policy`), over
the same client (`serving.policy_client`), so a replacement of that process only costs a wait. Each
member has at most `AT_ONCE` requests in flight, all together `ALL_AT_ONCE`; more are refused and
counted, and may be sent again later. Of its episodes the newest `MAX_EPISODES` are kept. A screen
that the model cannot take is refused here: in the policy process the error would end that process.

No thread waits for a decision, and one thread of the relay does all writing to the policy process:
a policy process that reads nothing delays decisions, but no other request of a member. A member's
episodes are dropped when it leaves or joins again; the policy server drops silent ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from distrl.agent.families.model_family import InputBuilder
from distrl.engine.join.decision_wire import Ask, PolicyQuestion, observation_in
from distrl.engine.run.preflight import check_screens
from distrl.engine.serving.decision_messages import PackedDecision, packed_decision
from distrl.engine.serving.policy_client import PolicyClient, ServerLine
from distrl.engine.serving.policy_server import ServerReport
from distrl.errors import JoinRefused, PolicyServerGone, UsageError
from distrl.records import Decision, Observation
from distrl.watched_threads import WatchedThreads

AT_ONCE, ALL_AT_ONCE = 64, 256  # requests in flight, of one member and of all
MAX_EPISODES = 1024  # of one member; the oldest is dropped for a newer one
ANSWER_SECONDS = 20.0  # for a decision; the member asks again after that
LAST_SECONDS = 5.0
KNOWN_SIZES = 256  # of screens, whose results are cached

Size = tuple[int, int]  # width and height


class ScreenCheck:
    """Refuses screens that the model cannot take. Thread-safe; each size is tried once."""

    def __init__(self, model: str, builder: InputBuilder) -> None:
        self._model = model
        self._builder = builder
        self._why_not = lru_cache(KNOWN_SIZES)(self._tried)
        self._lock = threading.Lock()  # a tokenizer has one user at a time

    def __call__(self, sizes: Iterable[Size]) -> None:
        for size in sizes:
            with self._lock:
                why_not = self._why_not(size)
            if why_not:
                raise JoinRefused(why_not, "unfit_screen", 422)

    def _tried(self, size: Size) -> str:
        """Return why the model cannot take a screen of this size; empty if it can."""
        try:
            check_screens(self._model, self._builder, {"a joined phone": size})
        except (UsageError, ValueError) as error:  # ours, or from a model's own processor
            return str(error)
        return ""


@dataclass(slots=True)
class DecisionRelay:
    """Asks the policy process for joined collectors. A context manager."""

    find: Callable[[], ServerLine | None]
    check: Callable[[Iterable[Size]], None]  # raises `JoinRefused`
    _client: PolicyClient = field(init=False)
    _episodes: dict[str, OrderedDict[str, int]] = field(default_factory=dict)  # handles, by member
    _asking: Counter[str] = field(default_factory=Counter)  # requests, by member
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: bool = False
    _polls: WatchedThreads = field(init=False)
    _sends: ThreadPoolExecutor = field(init=False)  # one thread: it may block

    def __post_init__(self) -> None:
        self._client = PolicyClient("joined", self.find, ANSWER_SECONDS)
        serve = self._client.serve
        self._polls = WatchedThreads("joined policy", lambda: serve(self._goes_on), lambda: None)
        self._sends = ThreadPoolExecutor(1, thread_name_prefix="joined decisions")

    def __enter__(self) -> Self:
        self._polls.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._client.close()
        self._sends.shutdown(wait=False, cancel_futures=True)
        self._polls.join(LAST_SECONDS)

    def _goes_on(self) -> bool:
        return not self._over

    async def decide(self, member: str, ask: Ask) -> PackedDecision:
        """Return the policy's decision; raise `JoinRefused` if there is none now."""
        with self._place(member):
            loop = asyncio.get_running_loop()
            observation = await loop.run_in_executor(None, self._observation, ask)
            try:
                decision = await self._decision(member, ask.request.session, observation)
            except PolicyServerGone as error:
                raise JoinRefused(f"no decision now: {error}", "no_decision", 503) from error
            return packed_decision(ask.request.number, decision)

    def _observation(self, ask: Ask) -> Observation:
        """Unpack the observation of a request; refuse screens that the model cannot take."""
        observation = observation_in(ask)
        self.check({(each.width, each.height) for each in ask.screens})
        return observation

    async def _decision(self, member: str, episode: str, observation: Observation) -> Decision:
        handle, loop = self._handle(member, episode), asyncio.get_running_loop()
        sent = loop.run_in_executor(self._sends, self._client.submit, handle, observation)
        return await asyncio.wrap_future(await sent)

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
            episodes.move_to_end(episode)  # the least recently used one is dropped
            dropped = episodes.popitem(last=False)[1] if len(episodes) > MAX_EPISODES else None
            handle = episodes[episode]
        if dropped is not None:
            self._leave([dropped])
        return handle

    def _leave(self, handles: Iterable[int]) -> None:
        """Tell the policy process, in the writing thread, that these episodes are over."""
        with contextlib.suppress(RuntimeError):  # shut down: the policy process ends, too
            for handle in handles:
                self._sends.submit(self._client.leave, handle)

    def forget(self, member: str) -> None:
        """End all episodes of a member whose session has ended."""
        with self._lock:
            episodes = self._episodes.pop(member, OrderedDict())
        self._leave(episodes.values())

    def report(self, member: str, question: PolicyQuestion) -> ServerReport | None:
        """End episodes; return the policy server's last report, None while it is loading.

        Raise `JoinRefused` if the model cannot take screens of the sizes in question.
        """
        self.check(question.sizes)
        with self._lock:
            episodes = self._episodes.get(member, OrderedDict())
            ended = [episodes.pop(each) for each in question.ended if each in episodes]
            if not episodes:
                self._episodes.pop(member, None)
        self._leave(ended)
        return self._client.seen


def no_policy() -> JoinRefused:
    return JoinRefused(
        "this run has no policy process that decides for others: start the learner with "
        "--set engine.policy=node, or join with --policy own",
        "no_policy",
        404,
    )
