"""A policy on a server of the tests, quick to try again, and something for it to look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
from tests.chat.chat_protocol import Reply, completion

from distrl.agent.dialects.compact import COMPACT
from distrl.agent.prompt import Prompter
from distrl.agent.served_policy import ServedPolicy, ServedSampling
from distrl.chat.chat_server import ChatServer, ServerSettings
from distrl.records import Observation, Screen, Wait

KEY = "sk-a-key-that-nobody-may-see"
FINE = Reply(completion())


def screen(seed: int = 0) -> Screen:
    pixels = np.random.default_rng(seed).integers(0, 256, (72, 36, 3), dtype=np.uint8)
    return Screen(pixels)


def observation(instruction: str = "Open the notes", seed: int = 0) -> Observation:
    return Observation(instruction, screen(seed), (Wait(),), (screen(99),))


@contextmanager
def policy_at(
    url: str,
    sampling: ServedSampling | None = None,
    prompter: Prompter | None = None,
    *,
    model: str = "policy",
    deadline_s: float = 20.0,
    tries: int = 5,
    concurrency: int = 8,
) -> Iterator[ServedPolicy]:
    settings = ServerSettings(
        url, deadline_s=deadline_s, tries=tries, first_wait_s=0.01, max_wait_s=0.02
    )
    opened = ServedPolicy(
        ChatServer.open(settings),
        prompter or Prompter(COMPACT),
        sampling or ServedSampling(),
        model=model,
        concurrency=concurrency,
    )
    with closing(opened) as policy:
        yield policy
