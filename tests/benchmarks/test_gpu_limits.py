"""Shares of a GPU's limits are computed from what was measured there and counted here."""

from __future__ import annotations

import pytest
from benchmarks.gpu_limits import BANDWIDTH, count_operations, language_weights, limit_shares
from benchmarks.policy import screens

from distrl.agent.loading import load_policy

OPERATIONS = {
    "starter_flop_per_decision": 494.5e6 + 67e6,
    "starter_convolution_flop_per_decision": 494.5e6,  # a microsecond of each kind
}
MEASURED = {
    "gpu": "NVIDIA H200",
    "gpu_decisions_per_s_starter_b256": 50_000.0,
    "gpu_decisions_per_s_qwen_3b_b32": 32.0,  # a second for a batch
    "gpu_prefill_share_qwen_3b_b32": 0.8,
}


def test_shares_are_of_the_time_at_both_peaks_and_of_reading_the_weights() -> None:
    found = limit_shares(MEASURED, OPERATIONS, weights=round(BANDWIDTH / 1000), answer=11)
    assert found["gpu_limit_decisions_per_s_starter"] == pytest.approx(500_000.0)
    assert found["gpu_limit_share_starter_b256"] == pytest.approx(0.1)
    # ten tokens of two milliseconds each, in 0.2 s
    assert found["gpu_bandwidth_share_qwen_3b_b32"] == pytest.approx(0.1)


def test_of_another_gpu_there_is_no_share() -> None:
    assert limit_shares(MEASURED | {"gpu": "NVIDIA L4"}, OPERATIONS, 1, 2) == OPERATIONS
    assert limit_shares({}, OPERATIONS, 1, 2) == OPERATIONS


@pytest.mark.slow
def test_what_is_counted_is_the_starters_and_qwens_own() -> None:
    policy = load_policy("starter", seed=0)
    one, two = (count_operations(policy, screens(count)) for count in (1, 2))
    convolutions = one["starter_convolution_flop_per_decision"]
    assert convolutions == two["starter_convolution_flop_per_decision"]
    assert 0.5 < convolutions / one["starter_flop_per_decision"] < 1.0
    assert language_weights() == pytest.approx(3.09e9, rel=0.01)  # the maker's count
