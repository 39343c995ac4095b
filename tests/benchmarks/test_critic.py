"""The critic's benchmark, on steps that were made up: it finds what can be known, and no more."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
from benchmarks.critic import errors_of, halves, held_out_brier, template_brier
from benchmarks.critic_data import CriticData, joined


def made_up(trajectories: int = 60, seed: int = 0) -> CriticData:
    """Four steps each; template "a" always succeeds, "b" never; only the state says which it is."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(trajectories), 4)
    success = (number % 2 == 0).astype(np.float32)
    noise = rng.normal(size=(len(number), 6)).astype(np.float32)
    return CriticData(
        trajectory=number,
        template=np.where(success > 0, "a", "b"),
        step=np.tile(np.arange(4.0, dtype=np.float32), trajectories),
        limit=np.full(len(number), 10.0, np.float32),
        success=success,
        state=noise + np.outer(success, [4, 0, 0, 0, 0, 0]).astype(np.float32),
        screen=noise,
        prompt=noise,
        words=noise,
    )


def test_whole_trajectories_are_held_out() -> None:
    data = made_up()
    trained, held_out = halves(data, seed=1)
    assert not set(data.trajectory[trained]) & set(data.trajectory[held_out])
    assert len(set(data.trajectory[trained])) == 30
    assert (trained ^ held_out).all()


def test_what_can_be_read_is_learned_and_noise_is_not() -> None:
    data = made_up()
    trained, _ = halves(data, seed=0)
    known = held_out_brier(data.state, data.success, trained, steps=60)
    unknown = held_out_brier(data.screen, data.success, trained, steps=60)
    assert known < 0.12
    assert unknown > 0.22
    assert template_brier(data, trained) < 0.01


def test_collections_are_kept_and_joined(tmp_path: Path) -> None:
    one, other = made_up(3), made_up(5, seed=1)
    one.save(tmp_path / "0.npz")
    both = joined([CriticData.load(tmp_path / "0.npz"), other])
    assert len(np.unique(both.trajectory)) == 8
    assert both.trajectory.tolist() == sorted(both.trajectory.tolist())
    np.testing.assert_array_equal(both.state[:12], one.state)


def test_the_critics_own_setting_reads_state_and_words() -> None:
    data = made_up()
    trained, _ = halves(data, seed=0)
    kinds = np.eye(2, dtype=np.float32)[data.success.astype(int)]
    of_words = dataclasses.replace(data, state=data.screen, words=kinds)
    assert errors_of(of_words, trained, "instruction_words").mean() < 0.12
    assert errors_of(of_words, trained, "state").mean() > 0.22
