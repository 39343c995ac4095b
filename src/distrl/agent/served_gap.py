"""Measures how far a server's log-probabilities are from the learner's own for the same tokens.

They differ only by rounding if the server has the same weights, tokenises the prompt alike, sees
the same pixels and applies the temperature. If one of these differs, the gap is far larger, and the
importance ratios of an off-policy correction would correct for another policy.
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

MAX_MEAN_GAP = 0.1  # nats per token; half precision and other kernels cause about 0.01
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
    """Return observations with pictures of noise, which reveal a wrong size or order."""
    noise = np.random.default_rng(0)
    screens = [Screen(noise.integers(0, 256, PROBE_SHAPE, dtype=np.uint8)) for _ in PROBES]
    return [Observation(text, screen, ()) for text, screen in zip(PROBES, screens, strict=True)]


@torch.inference_mode()
def measure_gap(served: Policy, own: VlmPolicy, observations: Sequence[Observation]) -> LogProbGap:
    """Let the server decide, and score its answers with our own model, of the same weights."""
    decisions = served.decide(observations)
    scores = own.score(observations, [each.token_ids for each in decisions])
    ours = scores.log_probs[scores.token_mask].double().cpu().numpy()
    theirs = np.array([value for each in decisions for value in each.log_probs])
    apart = np.abs(ours - theirs)
    return LogProbGap(float(apart.mean()), float(apart.max()), len(apart))


def check_gap(served: Policy, own: VlmPolicy) -> str:
    """Return a sentence about the gap; raise `UnusableAnswer` if it is above `MAX_MEAN_GAP`."""
    gap = measure_gap(served, own, probes())
    if gap.mean > MAX_MEAN_GAP:
        raise UnusableAnswer(
            f"the log-probabilities of agent.server and of the learner's own model are {gap}; at "
            f"most {MAX_MEAN_GAP:g} in the mean can be corrected for. Serve the model of "
            "agent.model, with the same weights and chat template, and its log-probabilities as "
            "sampled (vLLM: --logprobs-mode processed_logprobs)"
        )
    return f"the log-probabilities of agent.server and of the learner's own model are {gap}"
