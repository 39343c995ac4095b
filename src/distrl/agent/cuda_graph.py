"""A computation recorded as a CUDA graph: one launch in place of a thousand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

WARM_UPS = 3  # before a recording, so that no library sets itself up within it


def recorded(compute: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """Replays `compute`, whose tensors must stay where they are; its result is overwritten."""
    aside: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(WARM_UPS):
            compute()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    # Other threads, that of a learner's next batch say, may use the GPU meanwhile.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = compute()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay
