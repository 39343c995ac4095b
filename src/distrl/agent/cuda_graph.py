"""Records a computation as a CUDA graph: one launch in place of a thousand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

WARM_UPS = 3  # runs before the capture, so that no library initialises itself during it


def recorded(compute: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """Return a function that replays `compute`. Tensors that `compute` reads must keep their
    memory; each replay overwrites the result.
    """
    aside: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(WARM_UPS):
            compute()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    # Other threads, such as the one that prepares a learner's next batch, may use the GPU.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = compute()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay
