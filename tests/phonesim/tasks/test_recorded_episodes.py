"""Episodes recorded before the phone grew: same instructions, pixels and verdicts ever since."""

from __future__ import annotations

import pytest
from tests.phonesim.tasks.recorded_episode import RecordedEpisode, recorded_episodes, replay
from tests.slow_params import one_in

from distrl import records as r
from phonesim.tasks.task_sets import load_task, templates

EPISODES = recorded_episodes()
FIRST_TEMPLATES = 276  # those that the shipped model was trained on


def test_every_template_of_then_is_still_there() -> None:
    assert len(EPISODES) >= FIRST_TEMPLATES
    assert EPISODES.keys() <= templates().keys()


@pytest.mark.parametrize("episode", one_in(12, EPISODES.values()), ids=lambda e: e.task)
def test_a_recorded_episode_looks_and_ends_as_it_did(episode: RecordedEpisode) -> None:
    assert load_task(episode.task)[0].instruction == episode.instruction
    assert replay(episode.task, episode.solution) == episode.solved
    assert episode.solved.done.endswith("1")
    assert replay(episode.task, episode.detour) == episode.detoured


def test_another_action_is_seen_in_the_pixels() -> None:
    episode = next(iter(EPISODES.values()))
    other = replay(episode.task, (r.OpenApp("Maps"), *episode.solution[1:]))
    assert other.pixels != episode.solved.pixels
