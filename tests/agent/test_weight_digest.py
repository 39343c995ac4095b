"""A digest tells apart whatever differs, and is the same wherever it is computed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from distrl.agent.weight_digest import COLUMNS, weight_digest

SIZE = 3 * COLUMNS + 17


def weights() -> dict[str, Tensor]:
    rng = torch.Generator().manual_seed(1)
    large = torch.randn(SIZE, generator=rng)
    return {"large": large, "small": torch.randn((2, 3), generator=rng).bfloat16()}


def test_copies_have_one_digest_in_whatever_order_and_layout() -> None:
    own = weights()
    turned = {"small": own["small"].T.contiguous().T, "large": own["large"].clone()}
    assert not turned["small"].is_contiguous()
    assert weight_digest(turned) == weight_digest(own)


@pytest.mark.parametrize("place", [0, COLUMNS + 5, SIZE - 1])
def test_the_last_bit_of_one_weight_changes_it(place: int) -> None:
    changed = weights()
    changed["large"].view(torch.int32)[place] ^= 1
    assert weight_digest(changed) != weight_digest(weights())


def test_weights_that_trade_places_names_types_or_shapes_change_it() -> None:
    own = weights()
    rolled = own | {"large": own["large"].roll(1)}
    renamed = {"larger": own["large"], "small": own["small"]}
    wider = own | {"small": own["small"].float()}
    reshaped = own | {"small": own["small"].reshape(3, 2)}
    digests = {weight_digest(each) for each in (own, rolled, renamed, wider, reshaped)}
    assert len(digests) == 5


def test_versions_of_distrl_agree_on_a_digest() -> None:
    """It is written into runs: a faster way to compute it must come to the same."""
    known = {
        "matrix": torch.arange(3 * COLUMNS + 5).reshape(1, -1).float(),
        "half": torch.arange(5000).bfloat16(),
        "one": torch.tensor(3.0),
        "none": torch.zeros(0),
    }
    assert weight_digest(known) == "77f7780f3cb1d7bbfe025f73eb048b3e"


def test_no_weights_have_a_digest_too() -> None:
    assert weight_digest({}) != weight_digest({"none": torch.zeros(0)})


def test_tensors_of_several_devices_are_copied_device_by_device() -> None:
    """On a CPU alone: tensors on `meta` are a device of their own, though without numbers."""
    own = weights()
    with pytest.raises(NotImplementedError, match="meta"):  # not: "expected all on one device"
        weight_digest(own | {"elsewhere": torch.zeros(COLUMNS, device="meta")})
