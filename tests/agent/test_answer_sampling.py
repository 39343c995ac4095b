"""Answers: drawn as the distribution says, ended where they end, with the log-probs of the draw."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from distrl.agent.answer_sampling import SamplingSettings, drawn, sample_answers

END = 0


class Script:
    """A decoding whose logits are written down: [steps, n, vocabulary]."""

    def __init__(self, logits: Tensor) -> None:
        self.steps = logits
        self.heard: list[list[int]] = []

    @property
    def logits(self) -> Tensor:
        return self.steps[len(self.heard)]

    def step(self, tokens: Tensor) -> None:
        self.heard.append(tokens.tolist())

    def keep(self, rows: Tensor) -> None:
        self.steps = self.steps[:, rows]


def certain(*answers: list[int], vocabulary: int = 5) -> Tensor:
    """Logits that leave no doubt about these tokens."""
    logits = torch.full((len(answers[0]), len(answers), vocabulary), -1e4)
    for row, answer in enumerate(answers):
        for step, token in enumerate(answer):
            logits[step, row, token] = 0.0
    return logits


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_every_row_ends_with_its_own_end_token() -> None:
    script = Script(certain([3, 2, 1, 4, 0], [2, 4, 1, 1, 1], [0, 1, 1, 1, 1]))
    answers = sample_answers(script, torch.tensor([END, 4]), SamplingSettings(), rng())
    assert [answer.token_ids for answer in answers] == [(3, 2, 1, 4), (2, 4), (0,)]
    assert [len(answer.log_probs) for answer in answers] == [4, 2, 1]
    assert len(script.heard) == 3  # nobody is asked for more once the last has ended
    assert [column[0] for column in script.heard] == [3, 2, 1]


def test_rows_that_have_ended_are_dropped_when_they_are_half_or_more() -> None:
    """Four answers of 1, 2, 2 and 5 tokens, in an order that dropping must not disturb."""
    script = Script(certain([0, 1, 1, 1, 1], [3, 2, 1, 4, 0], [2, 0, 1, 1, 1], [1, 0, 1, 1, 1]))
    answers = sample_answers(script, torch.tensor([END]), SamplingSettings(), rng())
    assert [answer.token_ids for answer in answers] == [(0,), (3, 2, 1, 4, 0), (2, 0), (1, 0)]
    assert [len(tokens) for tokens in script.heard] == [4, 1, 1, 1]
    assert all(len(answer.log_probs) == len(answer.token_ids) for answer in answers)


def test_an_answer_has_a_bound() -> None:
    script = Script(certain([1, 2, 3, 1, 2, 3]))
    sampling = SamplingSettings(max_new_tokens=4)
    [answer] = sample_answers(script, torch.tensor([END]), sampling, rng())
    assert answer.token_ids == (1, 2, 3, 1)
    assert len(script.heard) == 3


def test_log_probs_are_those_at_the_temperature_also_of_greedy_answers() -> None:
    logits = torch.tensor([0.0, math.log(3.0)]).expand(1, 40, 2)  # p = 1/4, 3/4; squared at T = 1/2
    for temperature, odds in ((1.0, (0.25, 0.75)), (0.5, (0.1, 0.9))):
        for greedy, tokens in ((True, {1}), (False, {0, 1})):
            sampling = SamplingSettings(temperature, max_new_tokens=1, greedy=greedy)
            answers = sample_answers(Script(logits), torch.tensor([END]), sampling, rng())
            assert {answer.token_ids[0] for answer in answers} == tokens
            for answer in answers:
                wanted = math.log(odds[answer.token_ids[0]])
                assert math.isclose(answer.log_probs[0], wanted, abs_tol=1e-6)


def test_draws_follow_the_distribution() -> None:
    """40,000 draws: each share within 4 standard deviations, and nothing that has no chance."""
    odds = torch.tensor([0.5, 0.25, 0.125, 0.1, 0.02, 0.005, 0.0])
    rows = 40_000
    tokens = drawn(odds.log().expand(rows, -1), rng(1))
    shares = torch.bincount(tokens, minlength=len(odds)) / rows
    spread = (odds * (1 - odds) / rows).sqrt()
    assert bool(((shares - odds).abs() <= 4 * spread).all())
    assert float(shares[-1]) == 0.0


def test_half_precision_is_widened_before_the_draw() -> None:
    logits = torch.tensor([[[1.0, 1.004]]], dtype=torch.bfloat16)
    sampling = SamplingSettings(max_new_tokens=1, greedy=True)
    [answer] = sample_answers(Script(logits), torch.tensor([END]), sampling, rng())
    wanted = torch.log_softmax(logits.float().flatten(), 0)[answer.token_ids[0]]
    assert answer.log_probs == (float(wanted),)
