"""A few real lessons, and batches of them, made once for every test that looks at some."""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.agent.starter.vocabulary import signs
from distrl.devices.simulated.drawing.icons import ICONS
from distrl.episodes.lessons import Lesson
from distrl.imitation.lesson_arrays import LessonWriter, bytes_per_lesson, new_inputs, views
from distrl.imitation.lesson_stream import Lecture, endless_lessons
from distrl.records import Split
from distrl.tasks.task_sets import template_names

SIGNS = signs(tuple(sorted(ICONS)))


def lecture(split: Split = "train", *templates: str, slip_rate: float = 0.12) -> Lecture:
    """About all templates of a split, unless some are named."""
    names = templates or tuple(template_names(split))
    return Lecture(names, SIGNS, split=split, slip_rate=slip_rate, seed=5)


@cache
def lessons(split: Split, count: int, every: int = 1) -> tuple[Lesson, ...]:
    """So many, of every kind of template: with `every`, they are of that many more screens."""
    found = islice(endless_lessons(lecture(split), stream=0), 0, count * every, every)
    return tuple(found)


def written(some: tuple[Lesson, ...]) -> dict[str, NDArray[np.generic]]:
    arrays = views(bytearray(len(some) * bytes_per_lesson()), len(some))
    writer = LessonWriter(new_inputs())
    assert all(writer.write(lesson, arrays, place) for place, lesson in enumerate(some))
    return arrays


def batch_of(some: tuple[Lesson, ...]) -> dict[str, Tensor]:
    """What a model is taught with."""
    return {name: torch.from_numpy(array.copy()) for name, array in written(some).items()}
