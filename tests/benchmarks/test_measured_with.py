"""Settings that committed figures were measured with stay what they were when a default changes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from benchmarks.staleness import METHODS

from distrl.config.training_config import load_config
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.gradient_step import GradientStep


def test_staleness_was_measured_with_signed_advantages() -> None:
    made = [each.make(cast("GradientStep", None)) for each in METHODS if "a_ride" in each.name]
    assert len(made) == 2
    assert {each.settings.advantage for each in made if isinstance(each, ARide)} == {"signed"}


@pytest.mark.parametrize(
    ("name", "advantage"), [("quick_start", "filtered"), ("miniwob", "signed"), ("mixed", "signed")]
)
def test_configs_keep_the_advantages_that_they_were_measured_with(
    name: str, advantage: str
) -> None:
    assert load_config(Path(name)).learning.a_ride.advantage == advantage
