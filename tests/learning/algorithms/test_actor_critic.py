"""Gauges of a critic, by hand."""

from __future__ import annotations

import pytest
import torch

from distrl.learning.algorithms.actor_critic import explained_variance, reliability_gap


def test_the_reliability_gap_is_that_of_the_bins() -> None:
    # 0.12 and 0.18 share a bin: |0.30 − 1| = 0.7; 0.9 and 1.0 another: |1.9 − 2| = 0.1; over 4
    values, outcomes = torch.tensor([0.12, 0.18, 0.9, 1.0]), torch.tensor([0.0, 1.0, 1.0, 1.0])
    assert reliability_gap(values, outcomes) == pytest.approx(0.8 / 4)
    assert reliability_gap(torch.full((4,), 0.5), torch.tensor([0.0, 1.0, 1.0, 0.0])) == 0.0
    assert reliability_gap(torch.zeros(0), torch.zeros(0)) == 0.0


def test_explained_variance_is_one_for_who_knows_and_zero_for_who_guesses() -> None:
    targets = torch.tensor([0.0, 0.5, 1.0, 0.5])
    assert explained_variance(targets, targets) == pytest.approx(1.0)
    assert explained_variance(torch.full_like(targets, 0.5), targets) == pytest.approx(0.0)
    # errors 0.25, 0, −0.25, 0: variance 0.03125 of 0.125
    halfway = torch.tensor([0.25, 0.5, 0.75, 0.5])
    assert explained_variance(halfway, targets) == pytest.approx(1 - 0.03125 / 0.125)
    assert explained_variance(targets, torch.full_like(targets, 0.3)) == 0.0
