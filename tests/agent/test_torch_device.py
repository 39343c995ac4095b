"""Threads are a setting of the process."""

from __future__ import annotations

import torch

from distrl.agent.torch_device import use_threads


def test_a_number_is_used_and_none_changes_nothing() -> None:
    before = torch.get_num_threads()
    try:
        use_threads(3)
        assert torch.get_num_threads() == 3
        use_threads(None)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
