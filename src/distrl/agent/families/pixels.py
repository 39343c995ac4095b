"""Pixels as an image encoder takes them: resized by Pillow, then scaled channel by channel.

The numbers are those of the families' own image processors, whose settings are read from the
model's directory; tests compare the two. Ours are written straight to where they belong, without
copies on the way, and several pictures at a time where there are cores for it: with sixteen phones,
pictures would otherwise cost as much time as a model on a good GPU. Every machine gets the same
numbers: other ways of resizing give other ones, and then the learner would not see what the
collector saw.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from distrl.agent.dialects.dialect import ImageSize
from distrl.records import Pixels

Floats = NDArray[np.float32]
Job = TypeVar("Job")


@dataclass(frozen=True, slots=True, eq=False)
class PixelScale:
    """(byte · rescale − mean) / std, as byte · factor − offset."""

    factor: Floats  # [3, 1, 1]
    offset: Floats  # [3, 1, 1]

    def write(self, pixels: Pixels, into: Floats) -> None:
        """Bytes with channels third from last; `into` may have more rows, and gets copies then."""
        np.multiply(pixels, self.factor, out=into, dtype=np.float32, casting="unsafe")
        np.subtract(into, self.offset, out=into)


def pixel_scale(processor: Any) -> PixelScale:
    """What an image processor of transformers would scale by."""
    factor = np.full(3, processor.rescale_factor if processor.do_rescale else 1.0)
    offset = np.zeros(3)
    if processor.do_normalize:
        spread = np.asarray(processor.image_std, dtype=np.float64)
        factor, offset = factor / spread, np.asarray(processor.image_mean) / spread
    return PixelScale(_by_channel(factor), _by_channel(offset))


def _by_channel(numbers: NDArray[np.float64]) -> Floats:
    return numbers.astype(np.float32).reshape(3, 1, 1)


def resized(pixels: Pixels, size: ImageSize, filter_number: int) -> Pixels:
    """The picture in another size; `filter_number` is Pillow's, as settings of models have it."""
    picture = Image.fromarray(pixels)
    return np.asarray(picture.resize((size.width, size.height), Image.Resampling(filter_number)))


def tiles_of(pixels: Pixels, tile: ImageSize) -> Pixels:  # [tiles, 3, tile height, tile width]
    """A picture of whole tiles, cut up row by row."""
    rows, columns = pixels.shape[0] // tile.height, pixels.shape[1] // tile.width
    cut = pixels.reshape(rows, tile.height, columns, tile.width, 3).transpose(0, 2, 4, 1, 3)
    return np.ascontiguousarray(cut).reshape(rows * columns, 3, tile.height, tile.width)


def at_once(work: Callable[[Job], None], jobs: Iterable[Job]) -> None:
    """Do all the jobs, as many at a time as there are cores."""
    todo: Sequence[Job] = list(jobs)
    workers = min(len(todo), len(os.sched_getaffinity(0)))
    if workers <= 1:
        for job in todo:
            work(job)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, todo):
            pass
