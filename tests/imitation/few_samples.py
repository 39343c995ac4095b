"""A few real samples, and batches of them, made once for all tests that need some."""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.agent.starter.vocabulary import signs
from distrl.imitation.sample_arrays import SampleWriter, bytes_per_sample, new_inputs, views
from distrl.imitation.sample_stream import SampleRecipe, endless_samples
from distrl.records import Split
from phonesim.drawing.icons import ICONS
from phonesim.tasks.demonstrations import Sample
from phonesim.tasks.task_sets import template_names

SIGNS = signs(tuple(sorted(ICONS)))


def recipe(split: Split = "train", *templates: str, slip_rate: float = 0.12) -> SampleRecipe:
    """About all templates of a split, unless some are named."""
    names = templates or tuple(template_names(split))
    return SampleRecipe(names, SIGNS, split=split, slip_rate=slip_rate, seed=5)


@cache
def samples(split: Split, count: int, every: int = 1) -> tuple[Sample, ...]:
    """`count` samples of all templates; with `every`, they are spread over more screens."""
    found = islice(endless_samples(recipe(split), stream=0), 0, count * every, every)
    return tuple(found)


def written(some: tuple[Sample, ...]) -> dict[str, NDArray[np.generic]]:
    arrays = views(bytearray(len(some) * bytes_per_sample()), len(some))
    writer = SampleWriter(new_inputs())
    assert all(writer.write(sample, arrays, place) for place, sample in enumerate(some))
    return arrays


def batch_of(some: tuple[Sample, ...]) -> dict[str, Tensor]:
    """A training batch of them."""
    return {name: torch.from_numpy(array.copy()) for name, array in written(some).items()}
