"""Screens as tensors, and the placeholder tokens for them in the text.

Each family crops, resizes and counts pictures in its own way (`Pictures`); the result has one form.
Pixels are resized by Pillow, then scaled channel by channel, with the settings of the model's own
image processor; tests compare the two. Unlike that processor, this code writes straight into the
batch tensor, without copies, and several pictures in parallel if there are cores for it: with
sixteen phones, pictures would otherwise cost as much time as a model on a good GPU. The result is
the same on every machine: with another resizing, the learner would not see what the collector saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from transformers import AutoImageProcessor

from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.families.model_family import ModelParts
from distrl.errors import NotAModel
from distrl.processor import usable_cores
from distrl.records import Pixels, Screen

PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")
Floats = NDArray[np.float32]
Job = TypeVar("Job")


@dataclass(frozen=True, slots=True, eq=False)
class PixelWriter:
    """Resizes and scales as a model's image processor does. (byte · rescale − mean) / std is
    computed as byte · factor − offset.
    """

    factor: Floats  # [3, 1, 1]
    offset: Floats  # [3, 1, 1]
    resampling: Image.Resampling

    def resized(self, pixels: Pixels, size: ImageSize) -> Pixels:
        picture = Image.fromarray(pixels)
        return np.asarray(picture.resize((size.width, size.height), self.resampling))

    def write(self, pixels: Pixels, into: Floats) -> None:
        """Scale bytes (channels third from last) into `into`, to whose shape they broadcast."""
        np.multiply(pixels, self.factor, out=into, dtype=np.float32, casting="unsafe")
        np.subtract(into, self.offset, out=into)

    def write_tiles(self, picture: Pixels, original: Pixels, tile: ImageSize, into: Floats) -> None:
        """Write the tiles of a picture; if there are several, the resized original follows."""
        tiles = tiles_of(picture, tile)
        self.write(tiles, into[: len(tiles)])
        if len(tiles) > 1:
            small = tiles_of(self.resized(original, tile), tile)
            self.write(small, into[len(tiles) : len(tiles) + 1])


def pixel_writer(processor: Any) -> PixelWriter:
    """Build a writer with the settings of an image processor of transformers."""
    factor = np.full(3, processor.rescale_factor if processor.do_rescale else 1.0)
    offset = np.zeros(3)
    if processor.do_normalize:
        spread = np.asarray(processor.image_std, dtype=np.float64)
        factor, offset = factor / spread, np.asarray(processor.image_mean) / spread
    resampling = Image.Resampling(int(processor.resample))
    return PixelWriter(_by_channel(factor), _by_channel(offset), resampling)


def _by_channel(numbers: NDArray[np.float64]) -> Floats:
    return numbers.astype(np.float32).reshape(3, 1, 1)


def tiles_of(pixels: Pixels, tile: ImageSize) -> Pixels:  # [tiles, 3, tile height, tile width]
    """Cut a picture of whole tiles into tiles, row by row."""
    rows, columns = pixels.shape[0] // tile.height, pixels.shape[1] // tile.width
    cut = pixels.reshape(rows, tile.height, columns, tile.width, 3).transpose(0, 2, 4, 1, 3)
    return np.ascontiguousarray(cut).reshape(rows * columns, 3, tile.height, tile.width)


def at_once(work: Callable[[Job], None], jobs: Iterable[Job]) -> None:
    """Do all the jobs in threads, as many at a time as there are usable cores."""
    todo: Sequence[Job] = list(jobs)
    workers = min(len(todo), usable_cores())
    if workers <= 1:
        for job in todo:
            work(job)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, todo):
            pass


def write_each(
    screens: Sequence[Screen],
    rows: Sequence[int],  # of each screen
    shape: tuple[int, ...],  # of a row
    write: Callable[[Screen, Floats], None],
) -> Tensor:  # [all rows, *shape]
    """Write the rows of all screens into one tensor, several screens in parallel; the tensor is in
    pinned memory if CUDA is in use.
    """
    ends = list(accumulate(rows))
    on_gpu: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    whole = torch.empty((ends[-1], *shape), dtype=torch.float32, pin_memory=on_gpu)
    places = [whole.numpy()[end - count : end] for end, count in zip(ends, rows, strict=True)]
    at_once(lambda job: write(*job), zip(screens, places, strict=True))
    return whole


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """One picture in the text: `words` mark its place, and the n-th image token among them is
    repeated `runs[n]` times. `size` is the picture after resizing.
    """

    words: str
    runs: tuple[int, ...]
    size: ImageSize


PreparedPictures = tuple[dict[str, Tensor], list[PlacedPicture]]


class Pictures(Protocol):
    """Prepares the screens of some prompts; there is at least one screen among them."""

    def seen_size(self, screen: Screen) -> ImageSize: ...

    def prepare(self, screens: Sequence[Sequence[Screen]]) -> PreparedPictures:
        """Return tensors for the model, and every screen's place in the text, prompt by prompt."""
        ...


def image_processor(parts: ModelParts) -> Any:
    """Load the model's own image processor, for its settings; no download, no remote code."""
    if not any((parts.directory / name).is_file() for name in PROCESSOR_FILES):
        raise NotAModel(
            f"{parts.directory} has no {' or '.join(PROCESSOR_FILES)}, which says how pictures are "
            "prepared; copy it from the model that this one was made from"
        )
    try:
        return AutoImageProcessor.from_pretrained(  # type: ignore[no-untyped-call]
            parts.directory, backend="pil", local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotAModel(
            f"{parts.directory} says how pictures are prepared in a way that transformers cannot "
            f"read: {error}"
        ) from error


def edges(processor: Any, name: str) -> dict[str, int]:
    """Return a size setting of an image processor as a dict, whether it is a dict or an object."""
    value = dict(getattr(processor, name))
    return {key: int(edge) for key, edge in value.items() if edge is not None}


@dataclass(frozen=True, slots=True)
class OneSize:
    """Prepares pictures of one size, whatever the screen's shape: for Gemma 3 and Auto-UI."""

    writer: PixelWriter
    size: ImageSize

    def of(self, screens: Sequence[Screen]) -> Tensor:  # [screens, 3, height, width]
        shape = (3, self.size.height, self.size.width)
        return write_each(screens, [1] * len(screens), shape, self._write)

    def _write(self, screen: Screen, into: Floats) -> None:
        picture = self.writer.resized(screen.pixels, self.size)
        self.writer.write(tiles_of(picture, self.size), into)


def one_size(parts: ModelParts) -> OneSize:
    """Build a `OneSize` from the image processor in the model's directory."""
    processor = image_processor(parts)
    size = edges(processor, "size")
    return OneSize(pixel_writer(processor), ImageSize(size["width"], size["height"]))
