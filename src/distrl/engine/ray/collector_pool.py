"""All collectors of a run on a cluster, as whoever owns their actors sees them.

One that dies, fails or hangs is replaced, on whichever node has room, or as soon as one has: then
its actor waits in Ray's queue. The learner hears of every end first and says after which pause
another may begin, or that this one is given up. Where each node has one policy for all of its
collectors (`engine.policy`), its server is looked after as well (`ray_server_crew`). Nothing here
waits for anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.collector_actor import Build, collector_actor
from distrl.engine.ray.learner_actor import RunSnapshot
from distrl.engine.ray.placement import alive_nodes, collector_options
from distrl.engine.ray.policy_server_pool import PolicyServerPool
from distrl.engine.ray.ray_call import is_done
from distrl.errors import PolicyServerGone

BEATS_PER_SECOND = 100.0  # of all collectors together, at most
SHORTEST_BEAT = 0.25  # seconds


@dataclass(slots=True)
class _Post:
    """One collector: it plays, or its end is told to the learner, or it waits for its start."""

    number: int
    actor: Any = None
    playing: Any = None  # its one call
    answer: Any = None  # the learner's, to the news of its end
    start_at: float | None = 0.0


class RayCollectorPool:
    """Hires collectors, and replaces them."""

    def __init__(
        self,
        config: TrainingConfig,
        run: str,  # its directory
        learner: Any,
        build: Build,
        say: Callable[[str], None],
    ) -> None:
        offline = config.learning.learner.mode == "offline"
        self._config = config
        self._learner = learner
        self._build = build
        self._say = say
        self._posts = [] if offline else [_Post(n) for n in range(config.collection.collectors)]
        self._one_for_all = config.engine.policy == "node"
        self._servers = PolicyServerPool(config, run, learner, say)

    def waited_for(self) -> list[Any]:
        """Calls whose end is worth a look."""
        calls = (post.playing or post.answer for post in self._posts)
        return [call for call in calls if call is not None] + self._servers.waited_for()

    def look_after(self, now: float) -> None:
        """See who has ended and who may begin."""
        for post in self._posts:
            if post.playing is not None and is_done(post.playing):
                self._take_leave(post)
            elif post.answer is not None and is_done(post.answer):
                self._hear(post, now)
            elif post.start_at is not None and now >= post.start_at:
                self._hire(post)
        self._servers.look_after(now)

    def heed(self, snapshot: RunSnapshot) -> None:
        """Who hangs is killed, and replaced as if it had died by itself; who is new is served."""
        if self._one_for_all:
            self._servers.serve_at({info.place for info in snapshot.collectors}, snapshot.learner)
        for info in snapshot.silent:
            post = self._posts[info.number]
            if post.playing is not None and not is_done(post.playing):
                self._say(f"{info.name} on {info.place} hangs, and is ended")
                ray.kill(post.actor)

    def server_words(self) -> str:
        """Where policy servers are, on one line; empty where every collector has a policy."""
        return self._servers.words()

    @property
    def failure(self) -> PolicyServerGone | None:
        """Nobody decides any more, and nobody ever will."""
        return self._servers.failure

    def kill(self) -> None:
        """End all, those that wait for a node as well."""
        for post in self._posts:
            if post.actor is not None:
                ray.kill(post.actor)
        self._posts = []
        self._servers.kill()

    def _hire(self, post: _Post) -> None:
        settings = self._config.collection
        beat_seconds = max(SHORTEST_BEAT, settings.collectors / BEATS_PER_SECOND)
        options = collector_options(self._config, alive_nodes(), post.number)
        post.actor = collector_actor(**options).remote(
            self._learner,
            post.number,
            self._build,
            beat_seconds,
            settings.heartbeat_seconds,
            fetches_weights=not self._one_for_all,
        )
        post.playing, post.start_at = post.actor.play.remote(), None

    def _take_leave(self, post: _Post) -> None:
        """It has gone home after the run, or has failed, or was lost."""
        ray.kill(post.actor)
        playing, post.playing, post.actor = post.playing, None, None
        try:
            ray.get(playing)
            return
        except RayTaskError as error:
            self._say(f"collector {post.number} failed: {error.cause!r}")
        except RayError as error:
            self._say(f"collector {post.number} was lost ({type(error).__name__})")
        places = [node.place for node in alive_nodes()]
        post.answer = self._learner.gone.remote(post.number, places)

    def _hear(self, post: _Post, now: float) -> None:
        answer, post.answer = post.answer, None
        try:
            pause: float | None = ray.get(answer)
        except RayError:
            return  # the learner is gone for good, and the run with it
        post.start_at = None if pause is None else now + pause
