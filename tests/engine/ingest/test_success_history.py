"""Success over spans of a run: of one length for ever, exact in its counts."""

from __future__ import annotations

import math
import random

import pytest

from distrl.engine.ingest.episode_log import (
    MAX_SPANS,
    PLANNED_SPANS,
    USUAL_SPAN,
    SuccessHistory,
)


def test_a_span_never_changes_what_it_says() -> None:
    history, rng = SuccessHistory(480.0), random.Random("history")
    assert history.span == 480.0 / PLANNED_SPANS
    before: tuple[float, ...] = ()
    for number in range(1000):
        history.add(3.7 * number, success=rng.random() < 0.3)
        now = history.rates()
        if len(now) < MAX_SPANS:  # all but the last span are as they were
            assert now[: len(before) - 1] == pytest.approx(before[:-1], nan_ok=True)
            before = now
    assert len(history.rates()) == MAX_SPANS


def test_no_episode_is_lost() -> None:
    history, rng = SuccessHistory(), random.Random("history")
    episodes = [(1.7 * number, rng.random() < 0.3) for number in range(1000)]
    for seconds, success in episodes:
        history.add(seconds, success=success)
    for place, rate in enumerate(history.rates()):
        inside = [s for at, s in episodes if place <= at / USUAL_SPAN < place + 1]
        assert rate == sum(inside) / len(inside)


def test_a_span_in_which_nothing_ended_is_no_number() -> None:
    history = SuccessHistory(math.inf)
    history.add(0.5, success=True)
    history.add(3 * USUAL_SPAN, success=False)
    first, second, third, last = history.rates()
    assert (first, last) == (1.0, 0.0)
    assert math.isnan(second)
    assert math.isnan(third)
    assert SuccessHistory().rates() == ()
