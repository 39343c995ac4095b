"""The report of a learner's step: losses, staleness and ratios of its data, and the time taken.

Figures are of this one step; counts in `LearnerStatus` are since the start. Equality ignores
`seconds`, `peak_flops`, `watch` and `drawn`, so that a resumed run can be compared with an
uninterrupted one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from distrl.learning.algorithms.actor_critic import reliability_gap
from distrl.learning.algorithms.algorithm import UpdateReport
from distrl.learning.batch import Batch
from distrl.learning.losses.averages import step_mean
from distrl.learning.staleness_buckets import bucket_names, staleness_histogram
from distrl.learning.targets import ratios
from distrl.learning.throughput import Work
from distrl.replay.buffer.entries import Draw

STAGES = ("drain", "watch", "sample", "batch", "update", "refresh", "publish")
RATIO_LIMIT = 1.0  # Retrace truncates ratios above it


class StageClock:
    """Measures named stages of a step, in seconds; repeated stages add up.

    CUDA kernels run asynchronously, but an update ends by reading numbers from the GPU, which
    waits for all kernels, so no further synchronisation is needed.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - begin


@dataclass(frozen=True, slots=True)
class LearnerStatus:
    """Progress and counters of the learner."""

    updates: int  # since the start
    version: int  # of the published weights
    samples_per_insert: float  # since the replay was filled
    owed: float  # draws that the inserts so far have paid for; see `Pacing`
    arrivals: dict[str, int]  # by outcome, since the start
    replay: dict[str, float]

    def gauges(self) -> dict[str, float]:
        return {
            "updates": float(self.updates),
            "version": float(self.version),
            "samples_per_insert": self.samples_per_insert,
            "owed": self.owed,
            **named("arrivals", self.arrivals),
            **named("replay", self.replay),
        }


@dataclass(frozen=True, slots=True)
class Drawn:
    """A trajectory of a batch, and the update's figures for its steps, [t] each."""

    id: str
    priority: float  # at the draw
    times_drawn: int  # this time included
    values: tuple[float, ...]  # of each step; NaN for those of the parent of a continuation
    ratios: tuple[float, ...]
    advantages: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A step without an update: more trajectories must arrive first, or it was abandoned."""

    learner_status: LearnerStatus

    def gauges(self) -> dict[str, float]:
        return self.learner_status.gauges()


@dataclass(frozen=True, slots=True)
class LearnerReport:
    """A step with an update."""

    learner_status: LearnerStatus  # after the step
    published: bool
    policy_moved: bool  # False while the critic warms up
    losses: dict[str, float]
    gradient_norms: dict[str, float]
    algorithm: dict[str, float]  # its own metrics
    ratio_quantiles: tuple[float, ...]  # of whole turns, at ratios.QUANTILES
    effective_sample_size: float  # at most `turns`
    clip_fraction: float  # of the turns' ratios, above RATIO_LIMIT
    staleness: tuple[int, ...]  # trajectories of the batch in each bucket of STALENESS_EDGES
    mean_staleness: float
    calibration_error: float
    mean_value: float
    success_rate: float  # of the batch; biased if it was drawn by priority
    entropy: float  # nats per token
    invalid_rate: float  # share of the turns
    turns: int
    tokens: int  # of answers
    work: Work | None  # of the model, all passes of the step; None if the policy does not count it
    peak_flops: float | None = field(compare=False)  # of the device, per second; None: not known
    seconds: dict[str, float] = field(compare=False)  # by stage
    watch: dict[str, float] = field(compare=False)  # log-prob gap of collectors and learner
    drawn: tuple[Drawn, ...] = field(default=(), compare=False)

    @property
    def tokens_per_second(self) -> float:
        """Answer tokens of the batch per second of the whole step."""
        return self.tokens / self._spent

    @property
    def model_tokens_per_second(self) -> float | None:
        """Tokens through the model per second: pictures, prompts and answers; None if unknown."""
        return None if self.work is None else self.work.tokens / self._spent

    @property
    def peak_share(self) -> float | None:
        """Model FLOP/s as a share of the device's peak; None if unknown."""
        if self.work is None or self.peak_flops is None:
            return None
        return self.work.flops / (self._spent * self.peak_flops)

    @property
    def effective_sample_share(self) -> float:
        """Effective sample size as a share of the turns; 1 if all were on-policy."""
        return self.effective_sample_size / max(1, self.turns)

    @property
    def _spent(self) -> float:
        return max(sum(self.seconds.values()), 1e-9)

    def gauges(self) -> dict[str, float]:
        """Return all figures as a flat dict, for a dashboard or a file."""
        device = {
            "model_tokens_per_second": self.model_tokens_per_second,
            "peak_share": self.peak_share,
        }
        quantiles = [f"q{100 * place:02.0f}" for place in ratios.QUANTILES]
        return {
            **self.learner_status.gauges(),
            "published": float(self.published),
            "policy_moved": float(self.policy_moved),
            **named("loss", self.losses),
            **named("gradient_norm", self.gradient_norms),
            **named("algorithm", self.algorithm),
            **named("ratio", dict(zip(quantiles, self.ratio_quantiles, strict=True))),
            "ratio/effective_sample_size": self.effective_sample_size,
            "ratio/effective_sample_share": self.effective_sample_share,
            "ratio/clip_fraction": self.clip_fraction,
            **named("staleness", dict(zip(bucket_names(), self.staleness, strict=True))),
            "staleness/mean": self.mean_staleness,
            "value/calibration_error": self.calibration_error,
            "value/mean": self.mean_value,
            "success_rate": self.success_rate,
            "entropy": self.entropy,
            "invalid_rate": self.invalid_rate,
            "turns": float(self.turns),
            "tokens": float(self.tokens),
            "tokens_per_second": self.tokens_per_second,
            **{name: figure for name, figure in device.items() if figure is not None},
            **named("seconds", self.seconds),
            **named("watch", self.watch),
        }


def learner_report(
    batch: Batch,
    update: UpdateReport,
    behind: Sequence[int],  # staleness of each trajectory of the batch, when it was drawn
    learner_status: LearnerStatus,
    seconds: dict[str, float],
    work: Work | None,
    peak_flops: float | None,
    *,
    published: bool,
    policy_moved: bool,
    watch: dict[str, float],
    draws: Sequence[Draw] = (),
) -> LearnerReport:
    """Build the report of an update; the batch is on the CPU."""
    mask, turn_ratios, values = batch.mask, update.ratios.cpu(), update.values.cpu()
    return LearnerReport(
        learner_status=learner_status,
        published=published,
        policy_moved=policy_moved,
        losses=update.losses,
        gradient_norms=update.gradient_norms,
        algorithm=update.metrics,
        ratio_quantiles=tuple(ratios.quantiles(turn_ratios, mask).tolist()),
        effective_sample_size=float(ratios.effective_sample_size(turn_ratios, mask)),
        clip_fraction=float(ratios.clip_fraction(turn_ratios, mask, high=RATIO_LIMIT)),
        staleness=staleness_histogram(behind),
        mean_staleness=sum(behind) / len(behind),
        calibration_error=reliability_gap(values[mask], update.outcomes.cpu()[mask]),
        mean_value=float(step_mean(values, mask)),
        success_rate=float(batch.outcomes.mean()),
        entropy=float(step_mean(update.entropies.cpu(), mask)),
        invalid_rate=float(step_mean(batch.invalid, mask)),
        turns=len(batch.turns),
        tokens=int(batch.token_mask.sum()),
        work=work,
        peak_flops=peak_flops,
        seconds=seconds,
        watch=watch,
        drawn=tuple(reported_draws(draws, update)),
    )


def reported_draws(draws: Sequence[Draw], update: UpdateReport) -> Iterator[Drawn]:
    """What the update found at each step of each trajectory."""
    for row, draw in enumerate(draws):
        first = draw.trajectory.first_step  # column 0 of the batch; its parent has those before
        steps = len(draw.trajectory.decisions) - first
        values, ratios_, advantages = (
            (*[math.nan] * first, *tensor[row, :steps].tolist())
            for tensor in (update.values, update.ratios, update.advantages)
        )
        yield Drawn(
            draw.trajectory.id, draw.priority, draw.times_drawn, values, ratios_, advantages
        )


def named(group: str, figures: Mapping[str, float]) -> dict[str, float]:
    """Prefix each name with `group/`."""
    return {f"{group}/{name}": float(figure) for name, figure in figures.items()}
