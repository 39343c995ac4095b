"""Processes that make samples without end, and the shared memory through which they pass them on.

Every process plays scripted solutions of its own tasks and fills slabs of shared memory; the
trainer takes a full slab, copies it, and gives it back. No sample is pickled. The memory is
anonymous and inherited by fork, so it vanishes with the processes; and they end with the trainer,
even if that was killed.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import queue
import random
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue

from distrl.errors import ProcessError
from distrl.imitation.sample_arrays import Arrays, SampleWriter, bytes_per_sample, new_inputs, views
from distrl.records import Split
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.drawing.labelled_canvas import LabelledCanvas
from phonesim.drift import Drift
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.demonstrations import Demonstrator, Sample
from phonesim.tasks.task_sets import load_task

NUMBERS = 1_000_000  # tasks of each template
SLAB = 64  # samples
SLABS = 3  # of each process: one is filled, one waits, one is copied
PATIENCE = 120.0  # seconds until a full slab must have come
POLL_SECONDS = 1.0  # between two checks whether the other side is alive


@dataclass(frozen=True, slots=True)
class SampleRecipe:
    """What the samples are of. A template named twice comes twice as often.

    `signs`: those that the pixels are labelled with; none: they are not. `elements`: observations
    have those of their screens.
    """

    templates: tuple[str, ...]
    signs: tuple[str, ...] = ()
    elements: bool = False
    split: Split = "train"
    drift: Drift = Drift()
    slip_rate: float = 0.12
    fresh_words: float = 0.0  # the share of tasks about made-up texts
    grounding: float = 0.0  # the share of walks over what stands on a screen
    seed: int = 0


class SampleStream:
    """Full slabs, as they come. Use it as `with open_stream(...) as stream`."""

    def __init__(
        self,
        slabs: Sequence[Arrays],
        full: Queue[int],
        free: Sequence[Queue[int]],
        workers: Sequence[BaseProcess],
    ) -> None:
        self._slabs = slabs
        self._full = full
        self._free = free
        self._workers = workers

    def take(self, *, wait: bool) -> tuple[int, Arrays] | None:
        """A full slab and its number; without `wait`, None if there is none yet."""
        self._check_workers()
        if not wait and self._full.empty():
            return None
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with suppress(queue.Empty):
                number = self._full.get(timeout=POLL_SECONDS)
                return number, self._slabs[number]
            self._check_workers()
        raise ProcessError(
            f"no samples came within {PATIENCE:g} s from {len(self._workers)} processes; is the "
            "machine overloaded? Take fewer processes"
        )

    def _check_workers(self) -> None:
        """A process that died would leave fewer and fewer samples, seen again and again."""
        dead = [worker for worker in self._workers if not worker.is_alive()]
        if dead:
            raise ProcessError(
                f"{len(dead)} of {len(self._workers)} processes that make samples ended with code "
                f"{dead[0].exitcode}; their output is above. Out of memory? Take fewer processes"
            )

    def give_back(self, number: int) -> None:
        self._free[number // SLABS].put(number)


@contextmanager
def open_stream(recipe: SampleRecipe, processes: int, slab: int = SLAB) -> Iterator[SampleStream]:
    """Start the processes; they end with the context."""
    context = multiprocessing.get_context("fork")  # the memory is inherited, not named
    full: Queue[int] = context.Queue()
    slabs = [
        views(memoryview(mmap.mmap(-1, slab * bytes_per_sample())), slab)
        for _ in range(processes * SLABS)
    ]
    free: list[Queue[int]] = [context.Queue() for _ in range(processes)]
    workers: list[BaseProcess] = []
    for number in range(processes):
        for each in range(number * SLABS, (number + 1) * SLABS):
            free[number].put(each)
        work = (recipe, number, slabs, slab, free[number], full)
        workers.append(context.Process(target=_make_samples, args=work, daemon=True))
    for worker in workers:
        worker.start()
    try:
        yield SampleStream(slabs, full, free, workers)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def _make_samples(
    recipe: SampleRecipe,
    number: int,
    slabs: Sequence[Arrays],
    slab: int,
    free: Queue[int],
    full: Queue[int],
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the trainer, which then ends us
    trainer = os.getppid()
    writer = SampleWriter(new_inputs())
    samples = endless_samples(recipe, number)
    while (mine := _free_slab(free, trainer)) is not None:
        filled = 0
        while filled < slab:
            filled += writer.write(next(samples), slabs[mine], filled)
        full.put(mine)


def _free_slab(free: Queue[int], trainer: int) -> int | None:
    """None when the trainer is gone."""
    while os.getppid() == trainer:
        with suppress(queue.Empty):
            return free.get(timeout=POLL_SECONDS)
    return None


def endless_samples(recipe: SampleRecipe, stream: int) -> Iterator[Sample]:
    """The samples of one process; another `stream` has other tasks."""
    rng = random.Random(f"lessons/{recipe.seed}/{stream}")  # the text is part of the seed
    device = SimulatedDevice(f"demonstrator {stream}", drift=recipe.drift)
    device.reset(0)
    if recipe.signs:
        alphabet = {sign: place for place, sign in enumerate(recipe.signs, start=1)}
        device.phone.draw_on(LabelledCanvas(WIDTH, HEIGHT, alphabet))
    demonstrator = Demonstrator(
        device,
        f"{recipe.seed}/{stream}",
        recipe.slip_rate,
        recipe.fresh_words,
        elements=recipe.elements,
    )
    while True:
        template = rng.choice(recipe.templates)
        task, _ = load_task(f"{template}/{recipe.split}/{rng.randrange(NUMBERS)}")
        grounded = rng.random() < recipe.grounding
        yield from demonstrator.ground(task) if grounded else demonstrator.demonstrate(task)
