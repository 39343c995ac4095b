"""Success over spans of a run: bounded in number, exact in its counts."""

from __future__ import annotations

import math
import random

from distrl.engine.ingest.episode_log import FIRST_SPAN, MAX_SPANS, SuccessHistory


def test_spans_grow_with_the_run_and_no_episode_is_lost() -> None:
    history, rng = SuccessHistory(), random.Random("history")
    episodes = [(3.7 * number, rng.random() < 0.3) for number in range(1000)]
    for seconds, success in episodes:
        history.add(seconds, success=success)
    rates = history.rates()
    span = FIRST_SPAN * 32
    assert len(rates) == math.ceil(episodes[-1][0] / span) <= MAX_SPANS
    for place, rate in enumerate(rates):
        inside = [s for seconds, s in episodes if span * place <= seconds < span * (place + 1)]
        assert rate == sum(inside) / len(inside)


def test_a_span_in_which_nothing_ended_is_no_number() -> None:
    history = SuccessHistory()
    history.add(0.5, success=True)
    history.add(3 * FIRST_SPAN, success=False)
    first, second, third, last = history.rates()
    assert (first, last) == (1.0, 0.0)
    assert math.isnan(second)
    assert math.isnan(third)
    assert SuccessHistory().rates() == ()
