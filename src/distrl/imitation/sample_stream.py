"""Worker processes that generate an endless stream of samples into shared memory.

Every worker plays scripted solutions of its own tasks and fills slabs (batches of `SLAB` samples)
in shared memory. The trainer takes a full slab, copies it, and gives it back. No sample is pickled.
The memory is anonymous and inherited by fork, so it is freed with the processes. Workers exit when
the trainer does, even if it was killed.
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
SLABS = 3  # per process: one is filled, one waits, one is copied
PATIENCE = 120.0  # timeout in seconds for a full slab
POLL_SECONDS = 1.0  # between two checks whether the other side is alive


@dataclass(frozen=True, slots=True)
class SampleRecipe:
    """What samples to generate. A template that is listed twice is drawn twice as often.

    `signs`: the classes for labelling pixels; empty: no labels. `elements`: whether observations
    contain the elements of their screens.
    """

    templates: tuple[str, ...]
    signs: tuple[str, ...] = ()
    elements: bool = False
    split: Split = "train"
    drift: Drift = Drift()
    slip_rate: float = 0.12
    fresh_words: float = 0.0  # fraction of tasks that use made-up texts
    grounding: float = 0.0  # fraction of episodes that are walks (`Demonstrator.ground`)
    seed: int = 0


class SampleStream:
    """The trainer's side: full slabs as they arrive. Use `with open_stream(...) as stream`."""

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
        """Return a full slab's number and arrays; without `wait`, None if there is none yet."""
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
        """Raise `ProcessError` if a worker died: training would reuse ever fewer samples."""
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
    """Start the workers; terminate them when the context ends."""
    context = multiprocessing.get_context("fork")  # workers inherit the anonymous memory
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the trainer handles it and terminates us
    trainer = os.getppid()
    writer = SampleWriter(new_inputs())
    samples = endless_samples(recipe, number)
    while (mine := _free_slab(free, trainer)) is not None:
        filled = 0
        while filled < slab:
            filled += writer.write(next(samples), slabs[mine], filled)
        full.put(mine)


def _free_slab(free: Queue[int], trainer: int) -> int | None:
    """Wait for a free slab and return its number; None if the trainer is gone."""
    while os.getppid() == trainer:
        with suppress(queue.Empty):
            return free.get(timeout=POLL_SECONDS)
    return None


def endless_samples(recipe: SampleRecipe, stream: int) -> Iterator[Sample]:
    """Yield the samples of one process; each `stream` number has its own tasks."""
    rng = random.Random(f"lessons/{recipe.seed}/{stream}")  # the prefix is part of the seed
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
