"""Episodes recorded before the phone grew: same instructions, pixels and verdicts ever since."""

from __future__ import annotations

import pytest
from tests.phonesim.tasks.recorded_episode import RecordedEpisode, recorded_episodes, replay
from tests.slow_params import one_in

from distrl import records as r
from phonesim.tasks.task_sets import load_task, templates

EPISODES = recorded_episodes()
OTHER_PIXELS = {  # meant to look different since, to the end of the episode; verdicts are the same
    "settings.language/train/0": "the language that is chosen is the one that is shown",
}
FIRST_TEMPLATES = 276  # those that the shipped model was trained on


def test_every_template_of_then_is_still_there() -> None:
    assert len(EPISODES) >= FIRST_TEMPLATES
    assert EPISODES.keys() <= templates().keys()


@pytest.mark.parametrize("episode", one_in(12, EPISODES.values()), ids=lambda e: e.task)
def test_a_recorded_episode_looks_and_ends_as_it_did(episode: RecordedEpisode) -> None:
    assert load_task(episode.task)[0].instruction == episode.instruction
    assert episode.solved.done.endswith("1")
    for actions, then in ((episode.solution, episode.solved), (episode.detour, episode.detoured)):
        now = replay(episode.task, actions)
        assert now.done == then.done
        assert now.pixels == then.pixels or episode.task in OTHER_PIXELS


def test_another_action_is_seen_in_the_pixels() -> None:
    episode = next(iter(EPISODES.values()))
    other = replay(episode.task, (r.OpenApp("Maps"), *episode.solution[1:]))
    assert other.pixels != episode.solved.pixels
