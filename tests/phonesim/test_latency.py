"""The distributions are the ones they claim to be, and a stream can be drawn again."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from statistics import NormalDist, fmean, median, quantiles

import pytest

from distrl.errors import InvalidSetting
from distrl.records import Back, Tap, TypeText, Wait
from phonesim.latency import (
    EPISODE_LOG_SD,
    EVENT_DRIVEN,
    NONE,
    PAPER_EMULATOR,
    SLOWDOWNS,
    SNAPSHOT_EMULATOR,
    Durations,
    Latency,
    LogNormal,
    ResetLatency,
)

DRAWS = 20_000


def sample(of: LogNormal) -> list[float]:
    rng = random.Random("test latency")
    return [of.draw(rng) for _ in range(DRAWS)]


@pytest.mark.parametrize(
    "of",
    [
        PAPER_EMULATOR.action,
        PAPER_EMULATOR.screencap,
        PAPER_EMULATOR.page_load,
        SNAPSHOT_EMULATOR.reset.boot,
    ],
)
def test_quantiles_are_those_of_a_log_normal(of: LogNormal) -> None:
    drawn = sample(of)
    assert median(drawn) == pytest.approx(of.median, rel=0.03)
    for share in (5, 25, 75, 95):
        expected = of.median * math.exp(of.log_sd * NormalDist().inv_cdf(share / 100))
        assert quantiles(drawn, n=100)[share - 1] == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    "of",
    [
        LogNormal(0.6, 0.4),
        LogNormal(0.6, 1.1, cap=60.0),
        LogNormal(2.0, 1.0, cap=3.0),  # a third of all draws meets the cap
        LogNormal(5.0),
        LogNormal(5.0, cap=2.0),
        LogNormal(0.0, 1.0),
    ],
)
def test_the_mean_is_that_of_the_draws(of: LogNormal) -> None:
    assert fmean(sample(of)) == pytest.approx(of.mean, rel=0.03)


def test_a_mean_worked_by_hand() -> None:
    # LN(1.2, 0.3): 1.2 * exp(0.045) = 1.2 * 1.046028 = 1.255233
    assert LogNormal(1.2, 0.3).mean == pytest.approx(1.255233, abs=1e-6)


def test_the_cap_is_never_passed_and_is_met() -> None:
    drawn = sample(LogNormal(0.6, 1.1, cap=5.0))
    assert max(drawn) == 5.0
    above = 1 - NormalDist().cdf(math.log(5.0 / 0.6) / 1.1)
    assert sum(seconds == 5.0 for seconds in drawn) / DRAWS == pytest.approx(above, rel=0.15)


def test_a_fixed_wait_draws_nothing() -> None:
    rng = random.Random(1)
    before = rng.getstate()
    assert LogNormal(5.0).draw(rng) == 5.0
    assert rng.getstate() == before


def test_a_clone_with_boot_takes_what_its_parts_take() -> None:
    rng = random.Random("resets")
    drawn = [PAPER_EMULATOR.reset.draw(rng) for _ in range(DRAWS)]
    # teardown 4*exp(.125)=4.53, pause 2, clone 12*exp(.08)=13.00, boot 15, poll .25*5, cold .01*100
    assert fmean(drawn) == pytest.approx(4.53 + 2 + 13.00 + 15 + 1.25 + 1.0, rel=0.02)
    cold = sum(seconds > 110.0 for seconds in drawn) / DRAWS
    assert cold == pytest.approx(0.01, rel=0.25)


def test_restoring_a_snapshot_is_six_times_as_fast() -> None:
    rng = random.Random("resets")
    clone = fmean(PAPER_EMULATOR.reset.draw(rng) for _ in range(DRAWS))
    restored = fmean(SNAPSHOT_EMULATOR.reset.draw(rng) for _ in range(DRAWS))
    assert 6.0 < clone / restored < 7.5  # 36.8 s and 5.67 s


def test_settling_counts_white_pictures() -> None:
    durations = Durations(PAPER_EMULATOR, "one", 1)
    counts = Counter(durations.of_settling() for _ in range(DRAWS))
    assert set(counts) <= {5.0, 10.0, 15.0, 20.0, 25.0}
    assert 1 - counts[5.0] / DRAWS == pytest.approx(0.06, rel=0.1)
    assert counts[15.0] / (DRAWS - counts[5.0]) == pytest.approx(0.06, rel=0.35)


def test_white_pictures_come_to_an_end() -> None:
    always = replace(PAPER_EMULATOR, white_chance=1.0)
    assert Durations(always, "one", 1).of_settling() == 5.0 + 4 * 5.0


def test_an_event_driven_device_settles_in_1_5_seconds() -> None:
    assert Durations(EVENT_DRIVEN, "one", 4).of_settling() in (1.5, 6.5)
    assert EVENT_DRIVEN.reset == SNAPSHOT_EMULATOR.reset


def test_text_and_retries_cost_extra() -> None:
    latency = Latency(action=LogNormal(1.0), typing=LogNormal(4.0), action_retry_chance=0.1)
    durations = Durations(latency, "one", 1)
    taps = Counter(durations.of_action(Tap(0.5, 0.5)) for _ in range(DRAWS))
    assert set(taps) == {1.0, 11.0}
    assert taps[11.0] / DRAWS == pytest.approx(0.1, rel=0.1)
    assert durations.of_action(TypeText("tea")) in (5.0, 15.0)


def test_a_wait_lasts_as_long_as_asked_on_every_device() -> None:
    slow = Latency(action=LogNormal(1.0), slowdowns=(4.0,))
    assert Durations(slow, "one", 1).of_action(Wait(30.0)) == 4.0 + 30.0
    assert Durations(NONE, "one", 1).of_action(Wait(30.0)) == 30.0


def test_a_device_keeps_its_slowdown_and_a_fleet_has_them_all() -> None:
    fleet = replace(PAPER_EMULATOR, slowdowns=SLOWDOWNS)
    shares = Counter(fleet.slowdown_of(f"device {n}") for n in range(4000))
    assert set(shares) == set(SLOWDOWNS)
    assert min(shares.values()) > 900
    assert fleet.slowdown_of("device 7") == fleet.slowdown_of("device 7")


def test_a_slowdown_multiplies_every_wait() -> None:
    waits = Latency(
        reset=ResetLatency(boot=LogNormal(2.0)),
        action=LogNormal(3.0),
        page_load=LogNormal(5.0),
        settle=LogNormal(7.0),
        screencap=LogNormal(11.0),
        slowdowns=(1.5,),
    )
    drawn = Durations(waits, "one", 1)
    assert drawn.of_reset() == 3.0
    assert drawn.of_action(Back()) == 4.5
    assert drawn.of_page_load() == 7.5
    assert drawn.of_settling() == 10.5
    assert drawn.of_capture() == 16.5


def test_episodes_lie_up_to_100_times_apart() -> None:
    spread = Latency(
        action=LogNormal(1.0), reset=ResetLatency(boot=LogNormal(5.0)), episode_log_sd=2.5
    )
    streams = [Durations(spread, "one", seed) for seed in range(2000)]
    factors = [stream.of_action(Back()) for stream in streams]
    assert (min(factors), max(factors)) == (0.1, 10.0)
    assert {stream.of_reset() for stream in streams} == {5.0}  # a reset is no part of the task


def test_the_episode_factor_is_drawn_once_and_has_the_stated_spread() -> None:
    spread = Latency(action=LogNormal(1.0), episode_log_sd=EPISODE_LOG_SD)
    streams = [Durations(spread, "one", seed) for seed in range(5000)]
    factors = [stream.of_action(Back()) for stream in streams]
    assert [stream.of_action(Back()) for stream in streams] == factors
    assert median(factors) == pytest.approx(1.0, rel=0.06)
    assert quantiles(factors, n=100)[83] == pytest.approx(math.e, rel=0.08)  # one deviation up


def drawn_by(device: str, seed: int, attempt: int = 0) -> list[float]:
    durations = Durations(PAPER_EMULATOR, device, seed, attempt)
    return [durations.of_reset(), *(durations.of_action(Back()) for _ in range(5))]


def test_a_stream_belongs_to_a_device_and_an_episode() -> None:
    assert drawn_by("one", 1) == drawn_by("one", 1)
    assert drawn_by("one", 1) != drawn_by("two", 1)
    assert drawn_by("one", 1) != drawn_by("one", 2)
    assert drawn_by("one", 1) != drawn_by("one", 1, attempt=1)


def test_none_takes_no_time() -> None:
    durations = Durations(NONE, "one", 1)
    waits = (
        durations.of_reset(),
        durations.of_action(TypeText("tea")),
        durations.of_page_load(),
        durations.of_settling(),
        durations.of_capture(),
    )
    assert waits == (0.0,) * 5


@pytest.mark.parametrize(
    "make",
    [
        lambda: LogNormal(-1.0),
        lambda: LogNormal(math.nan),
        lambda: LogNormal(math.inf),
        lambda: LogNormal(1.0, -0.1),
        lambda: LogNormal(1.0, 0.1, cap=-1.0),
        lambda: ResetLatency(poll_chance=1.5),
        lambda: ResetLatency(cold_boot_seconds=-1.0),
        lambda: Latency(white_chance=-0.1),
        lambda: Latency(white_seconds=math.nan),
        lambda: Latency(action_retry_chance=2.0),
        lambda: Latency(slowdowns=()),
        lambda: Latency(slowdowns=(1.0, 0.0)),
        lambda: Latency(episode_log_sd=-1.0),
    ],
)
def test_settings_out_of_range_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidSetting):
        make()
