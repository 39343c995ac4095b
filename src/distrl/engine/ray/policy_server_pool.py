"""The policy servers of a run on a cluster, as whoever owns their actors sees them.

Each node that has collectors gets one, within a moment of the first that enlists there. One that
dies, fails or falls silent is replaced on its node, after a pause that grows; with its node it is
forgotten. When all of them have failed more often than a collector may, nobody decides any more,
and `failure` says so. Nothing here waits for anything: collectors do, by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.placement import Node, alive_nodes, computing_on, is_done, server_options
from distrl.engine.ray.policy_server import ServerReport
from distrl.engine.ray.policy_server_actor import find_server, server_actor, server_name
from distrl.engine.supervision.restart_budget import (
    MAX_PAUSE,
    SILENT_START_SECONDS,
    RestartBudget,
    patience_of,
)
from distrl.errors import PolicyServerGone

LOOK_SECONDS = 1.0  # between two looks at a server
BEAT_SECONDS = 0.25  # between its two looks for weights


@dataclass(slots=True)
class _Post:
    """The server of one node: it serves, or it waits for its start."""

    number: int
    node: Node
    gpus: float
    budget: RestartBudget
    starts: int = 0
    actor: Any = None
    serving: Any = None  # its one long call
    looking: Any = None  # how does it stand?
    heard: float = 0.0  # when it last said so, or was started
    look_at: float = 0.0
    report: ServerReport | None = None  # of this start
    start_at: float = 0.0
    last_words: str = ""  # of the one before
    given_up: bool = False  # it has failed too often, and is hardly tried any more

    @property
    def name(self) -> str:
        return f"server-{self.number}.{self.starts}"


class PolicyServerPool:
    """Starts policy servers, and replaces them."""

    def __init__(
        self, config: TrainingConfig, run: str, learner: Any, say: Callable[[str], None]
    ) -> None:
        self._config = config
        self._run = run
        self._learner = learner
        self._say = say
        self._posts: dict[str, _Post] = {}  # by place
        self._known = 0
        self._patience = patience_of(config.collection.heartbeat_seconds)

    def waited_for(self) -> list[Any]:
        """Calls whose end is worth a look."""
        return [post.serving for post in self._posts.values() if post.serving is not None]

    def serve_at(self, places: Collection[str], learner: str) -> None:
        """See that collectors at these places have somebody to ask. `learner`: where that is."""
        if all(place in self._posts for place in places):
            return
        for node in alive_nodes():
            if node.place in places and node.place not in self._posts:
                gpus = self._gpus(node, learner)
                budget = RestartBudget(self._config.collection.restarts)
                self._posts[node.place] = _Post(self._known, node, gpus, budget)
                self._known += 1

    def _gpus(self, node: Node, learner: str) -> float:
        """What it gets of the node's GPUs; none where all that there is is the learner's."""
        share = self._config.engine.server_gpus
        free = node.resources.get("GPU", 0.0) - (1.0 if node.place == learner else 0.0)
        return share if share <= free else 0.0

    def look_after(self, now: float) -> None:
        """See who has ended, who says what, who hangs and who may begin."""
        for post in list(self._posts.values()):
            if post.serving is not None and is_done(post.serving):
                self._take_leave(post, now)
            elif post.serving is not None:
                self._look(post, now)
            elif now >= post.start_at:
                self._hire(post, now)

    def words(self) -> str:
        """Where they are, and how many phones they answer at once."""
        return ", ".join(
            f"{place} (batch {post.report.batcher.mean_batch:.1f})"
            if post.report
            else f"{place} (–)"
            for place, post in sorted(self._posts.items())
        )

    @property
    def failure(self) -> PolicyServerGone | None:
        """What a run without any server ends with."""
        posts = self._posts.values()
        if not posts or not all(post.given_up for post in posts):
            return None
        return PolicyServerGone(
            f"all policy servers ({len(posts)}) failed more than collection.restarts="
            f"{self._config.collection.restarts} times within minutes; the last words were: "
            f"{next(iter(posts)).last_words}"
        )

    def kill(self) -> None:
        """End all."""
        for post in self._posts.values():
            if post.actor is not None:
                ray.kill(post.actor)
        self._posts = {}

    def _hire(self, post: _Post, now: float) -> None:
        if find_server(self._run, post.node.place) is not None:
            return  # whoever had the name was killed a moment ago, and still has it
        config, options = self._config, server_options(post.node, post.gpus)
        device = config.agent.policy.device if post.gpus else "cpu"
        name = server_name(self._run, post.node.place)
        post.starts += 1
        post.actor = server_actor(config.devices.count, name=name, **options).remote(
            self._learner, computing_on(device, config), post.name, BEAT_SECONDS
        )
        post.serving = post.actor.serve.remote()
        post.looking, post.report, post.heard, post.look_at = None, None, now, now

    def _look(self, post: _Post, now: float) -> None:
        if post.looking is not None and is_done(post.looking):
            self._hear(post, now)
        if post.looking is None and now >= post.look_at:
            post.looking, post.look_at = post.actor.report.remote(), now + LOOK_SECONDS
        if now - post.heard > (self._patience if post.report else SILENT_START_SECONDS):
            trouble = "hangs" if post.report else f"is not ready in {SILENT_START_SECONDS:g} s"
            self._say(f"{post.name} on {post.node.place} {trouble}, and is ended")
            ray.kill(post.actor)
            post.heard = now

    def _hear(self, post: _Post, now: float) -> None:
        looking, post.looking = post.looking, None
        try:
            report: ServerReport | None = ray.get(looking)
        except RayError:
            return  # how its long call ends says why
        if report is not None:
            if post.report is None:
                device = "a GPU" if post.gpus else "the CPU"
                self._say(f"{post.name} is on {post.node.place}, and decides on {device}")
            post.report, post.heard = report, now
            post.given_up = post.given_up and not report.batcher.decisions

    def _take_leave(self, post: _Post, now: float) -> None:
        """It has failed, or was lost."""
        ray.kill(post.actor)
        serving, post.serving, post.looking, post.actor = post.serving, None, None, None
        try:
            ray.get(serving)
        except RayTaskError as error:
            post.last_words = f"{post.name} on {post.node.place} failed: {error.cause!r}"
        except RayError as error:
            lost = f"was lost ({type(error).__name__})"
            post.last_words = f"{post.name} on {post.node.place} {lost}"
        self._say(post.last_words)
        if post.node.id not in {node.id for node in alive_nodes()}:
            del self._posts[post.node.place]
            return
        worked = post.report is not None and post.report.batcher.decisions > 0
        pause = post.budget.pause_after_failure(now, had_worked=worked)
        post.given_up = pause is None
        post.start_at = now + (MAX_PAUSE if pause is None else pause)
