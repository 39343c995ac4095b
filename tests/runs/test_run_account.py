"""Time adds up to 1, from the first update on, over restarts as well."""

from __future__ import annotations

import pytest

from distrl.episodes.collector_report import STAGES
from distrl.episodes.episode import WORKS
from distrl.runs.run_account import PHONE_STAGES, RunAccount, waiting_share
from distrl.runs.run_records import Point


def sampled(updates: int, **seconds: float) -> Point:
    figures = {name.replace("__", "/"): each for name, each in seconds.items()}
    return Point("collection", updates, 0.0, figures)


def test_shares_add_up_to_one_and_begin_with_the_first_update() -> None:
    account = RunAccount.of(
        [
            sampled(0, seconds__act=50.0, learner_seconds__waiting=30.0),
            sampled(1, seconds__act=60.0, learner_seconds__waiting=40.0),
            sampled(
                9,
                seconds__act=62.0,
                seconds__reset=1.0,
                seconds__decide=5.0,
                seconds__admission=1.5,
                seconds__device=0.5,
                learner_seconds__waiting=41.0,
                learner_seconds__update=9.0,
            ),
        ]
    )
    phones = account.time.phones()
    expected = {"playing": 0.3, "deciding": 0.5, "admission": 0.15, "out of order": 0.05}
    assert phones == pytest.approx(expected)
    assert waiting_share(phones) == pytest.approx(0.2)
    assert account.time.learner() == pytest.approx({"waiting": 0.1, "updating": 0.9})


def test_a_run_without_updates_counts_from_its_start() -> None:
    account = RunAccount.of([sampled(0, seconds__act=1.0), sampled(0, seconds__act=2.0)])
    assert account.time.phones() == {"playing": 1.0}
    assert account.time.learner() == {}


def test_a_resumed_process_counts_from_zero_and_nothing_is_lost() -> None:
    account = RunAccount.of(
        [
            sampled(1, seconds__act=0.0, seconds__decide=0.0),
            sampled(2, seconds__act=6.0, seconds__decide=2.0),
            sampled(2, seconds__act=1.0, seconds__decide=0.0),  # of the process that resumed it
            sampled(3, seconds__act=2.0, seconds__decide=0.0),
        ]
    )
    assert account.time.phones() == {"playing": 0.8, "deciding": 0.2}


def test_what_gets_its_name_later_is_counted_once() -> None:
    account = RunAccount.of(
        [
            sampled(1, learner_seconds__update=0.0, learner_seconds__other=1.0),
            sampled(1, learner_seconds__update=6.0, learner_seconds__other=1.0),  # still under way
            sampled(2, learner_seconds__update=6.0, learner_seconds__publish=2.0,
                    learner_seconds__other=3.0),
        ]
    )  # fmt: skip
    assert account.time.learner() == {"updating": 0.6, "publishing": 0.2, "other": 0.2}


def test_what_was_drawn_is_averaged_over_updates() -> None:
    first = {"staleness/mean": 1.0, "ratio/effective_sample_share": 1.0, "policy_moved": 0.0}
    second = {"staleness/mean": 4.0, "ratio/effective_sample_share": 0.5, "policy_moved": 0.0}
    account = RunAccount.of([Point("learner", 1, 0.0, first), Point("learner", 2, 1.0, second)])
    assert (account.staleness, account.effective_sample_share) == (2.5, 0.75)
    assert not account.weights_moved
    account.add(Point("learner", 3, 2.0, second | {"policy_moved": 1.0}))
    assert account.weights_moved


def test_every_stage_of_a_collector_is_shown_by_a_name() -> None:
    assert set(PHONE_STAGES) == {*WORKS, *STAGES, "own"}
