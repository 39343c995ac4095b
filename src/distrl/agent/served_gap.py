"""How far a server's log-probabilities are from the learner's own for the same tokens.

They differ by rounding where the server has the same weights, reads the prompt in the same tokens,
sees the pictures in the same pixels and applies the temperature; by far more where one of these is
not so. Ratios of an off-policy correction would then correct for another policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from distrl.agent.policy import Policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.errors import UnusableAnswer
from distrl.records import Observation, Screen

MAX_MEAN_GAP = 0.1  # nats a token; half precision and other kernels make about 0.01
PROBE_SHAPE = (720, 360, 3)
PROBES = ("Open the settings", "Write a note that says Milk", "Set an alarm for seven")


@dataclass(frozen=True, slots=True)
class LogProbGap:
    """Absolute differences over all tokens, in nats."""

    mean: float
    most: float
    tokens: int

    def __str__(self) -> str:
        most = f"{self.most:.2g} at most"
        return f"{self.mean:.2g} nats a token apart in the mean of {self.tokens}, {most}"


def probes() -> list[Observation]:
    """Observations with pictures of noise, in which a wrong size or order shows."""
    noise = np.random.default_rng(0)
    screens = [Screen(noise.integers(0, 256, PROBE_SHAPE, dtype=np.uint8)) for _ in PROBES]
    return [Observation(text, screen, ()) for text, screen in zip(PROBES, screens, strict=True)]


@torch.inference_mode()
def measure_gap(served: Policy, own: VlmPolicy, observations: Sequence[Observation]) -> LogProbGap:
    """Ask the server, and score its answers with our own model, which has the same weights."""
    decisions = served.decide(observations)
    scores = own.score(observations, [each.token_ids for each in decisions])
    ours = scores.log_probs[scores.token_mask].double().cpu().numpy()
    theirs = np.array([value for each in decisions for value in each.log_probs])
    apart = np.abs(ours - theirs)
    return LogProbGap(float(apart.mean()), float(apart.max()), len(apart))


def check_gap(served: Policy, own: VlmPolicy) -> str:
    """A sentence about the gap; raises `UnusableAnswer` where the server is no use to a learner."""
    gap = measure_gap(served, own, probes())
    if gap.mean > MAX_MEAN_GAP:
        raise UnusableAnswer(
            f"the log-probabilities of agent.server and of the learner's own model are {gap}; at "
            f"most {MAX_MEAN_GAP:g} in the mean can be corrected for. Serve the model of "
            "agent.model, with the same weights and chat template, and its log-probabilities as "
            "sampled (vLLM: --logprobs-mode processed_logprobs)"
        )
    return f"the log-probabilities of agent.server and of the learner's own model are {gap}"
