"""What collectors say that they act with is compared with what was published."""

from __future__ import annotations

import pytest

from distrl.errors import WeightsDiffer
from distrl.weights.weight_digests import WeightDigests


def test_another_digest_than_the_published_one_names_the_collector_and_the_version() -> None:
    digests = WeightDigests()
    digests.add(7, "aaaa")
    digests.check("collector-3.1", 7, "aaaa")
    with pytest.raises(WeightsDiffer, match=r"collector-3\.1 .*bbbb under version 7.*aaaa"):
        digests.check("collector-3.1", 7, "bbbb")


def test_what_is_not_known_on_one_side_is_not_compared() -> None:
    digests = WeightDigests()
    digests.add(7, "aaaa")
    digests.check("collector-0.1", 6, "bbbb")  # published by an earlier process
    digests.check("collector-0.1", 7, "")
