"""Do the tests of the targets see a mistake? Each mutation is a mistake that someone could make.

A mutation is applied to a copy of the source of `retrace.py`; the copy is run against the defining
sums, exactly as the real module is, and must be rejected. The unmutated copy must pass.
"""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass

import pytest
from tests.learning.definitions import CHECKS, GARBAGE, batch_from_seed

from distrl.learning.targets import retrace

SOURCE = inspect.getsource(retrace)


@dataclass(frozen=True)
class Mutation:
    """In `function`, `old` becomes `new`; `old` stands in the source exactly once."""

    function: str
    mistake: str
    old: str
    new: str


RETRACE_SUM = "backward_sums(errors, discount * _one_later(traces))"
TRACES = "traces = lambda_ * torch.where(mask, ratios, 0.0).clamp(max=1.0)"
TARGETS = "return torch.where(mask, values[:, :-1] + corrections, 0.0)"
VTRACE_SUM = "backward_sums(weights * errors, discount * traces)"
REWARDS = "return torch.where(mask, rewards, 0.0) + "
FUTURE = "+ discount * next_values(values, mask, bootstrap)"
BOOTSTRAP = "(mask & ~follows & bootstrap.unsqueeze(1))"

# function under test: (mistake, old, new)
MISTAKES: dict[str, list[tuple[str, str, str]]] = {
    "retrace": [
        ("c_t for c_{t+1}", RETRACE_SUM, "backward_sums(errors, discount * traces)"),
        ("c_{t+2} for c_{t+1}", "* _one_later(traces)", "* _one_later(_one_later(traces))"),
        ("no discount in the recursion", "discount * _one_later(traces)", "_one_later(traces)"),
        ("no recursion", RETRACE_SUM, "errors"),
        ("the step weighed too", RETRACE_SUM, "backward_sums(traces * errors, discount * traces)"),
        ("ratios not cut", TRACES, "traces = lambda_ * torch.where(mask, ratios, 0.0)"),
        ("ratios cut from below", TRACES, TRACES.replace("max=", "min=")),
        ("no λ", TRACES, TRACES.replace("lambda_ * ", "")),
        ("ratios not masked", TRACES, "traces = lambda_ * ratios.clamp(max=1.0)"),
        ("targets not masked", TARGETS, "return values[:, :-1] + corrections"),
        ("added to the next value", TARGETS, TARGETS.replace(":-1", "1:")),
        ("rewards not masked", REWARDS, "return rewards + "),
        ("no reward for the last step", REWARDS, REWARDS.replace("mask", "_one_later(mask)")),
        ("no discount in the error", FUTURE, FUTURE.replace("discount * ", "")),
        ("always bootstraps", BOOTSTRAP, "(mask & ~follows)"),
        ("never bootstraps", BOOTSTRAP, "torch.zeros_like(mask)"),
        ("bootstraps where it ended", BOOTSTRAP, BOOTSTRAP.replace("& boot", "& ~boot")),
        ("bootstraps from padding", BOOTSTRAP, BOOTSTRAP.replace("mask & ", "")),
        ("V(s_t) for V(s_{t+1})", "where(used, values[:, 1:]", "where(used, values[:, :-1]"),
        (
            "values not masked",
            "return targets - torch.where(mask, values[:, :-1], 0.0)",
            "return targets - values[:, :-1]",
        ),
        ("forwards", "in reversed(range(terms.shape[1]))", "in range(terms.shape[1])"),
        ("columns in the wrong order", "*reversed(columns)", "*columns"),
    ],
    "vtrace": [
        ("c_{t+1} for c_t", VTRACE_SUM, VTRACE_SUM.replace("traces", "_one_later(traces)")),
        ("the step not weighed", VTRACE_SUM, "backward_sums(errors, discount * traces)"),
        ("no discount", VTRACE_SUM, "backward_sums(weights * errors, traces)"),
        ("one clip for both", "real_ratios.clamp(max=c_clip)", "real_ratios.clamp(max=rho_clip)"),
        ("no clip", "real_ratios.clamp(max=rho_clip)", "real_ratios"),
        (
            "ratios not masked",
            "real_ratios = torch.where(mask, ratios, 0.0)",
            "real_ratios = ratios",
        ),
        (
            "V(s_{t+1}) for v_{t+1} in the advantage",
            "following = next_targets(targets, values, mask, bootstrap)",
            "following = next_values(values, mask, bootstrap)",
        ),
        ("v_t for v_{t+1} in the advantage", "_one_later(targets)", "targets"),
        ("starts from 1", "later = torch.zeros_like", "later = torch.ones_like"),
        ("always bootstraps", BOOTSTRAP, "(mask & ~follows)"),
    ],
    "monte_carlo": [
        ("bootstraps everywhere", "torch.where(follows, 0.0, next_values", "(next_values"),
        ("final value not discounted", "+ discount * final", "+ final"),
        ("no discount", "discount * follows.to(", "follows.to("),
        ("always bootstraps", BOOTSTRAP, "(mask & ~follows)"),
    ],
    "one_step_td": [
        ("always bootstraps", BOOTSTRAP, "(mask & ~follows)"),
        ("rewards not masked", REWARDS, "return rewards + "),
    ],
}
MUTATIONS = [Mutation(name, *mistake) for name, known in MISTAKES.items() for mistake in known]


def _module(source: str) -> types.ModuleType:
    copy = types.ModuleType("distrl.learning.targets.retrace")
    exec(compile(source, "a copy of retrace.py", "exec"), copy.__dict__)
    return copy


def _hold_against_definition(function: str, module: types.ModuleType) -> None:
    for seed in range(10):
        CHECKS[function](module, batch_from_seed(seed), GARBAGE[seed % len(GARBAGE)])


@pytest.mark.parametrize("function", CHECKS)
def test_the_true_source_passes(function: str) -> None:
    _hold_against_definition(function, _module(SOURCE))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: f"{m.function}: {m.mistake}")
def test_a_mistake_is_seen(mutation: Mutation) -> None:
    assert SOURCE.count(mutation.old) == 1, "the source has changed: write the mutation anew"
    assert mutation.new != mutation.old
    mutant = _module(SOURCE.replace(mutation.old, mutation.new))
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        _hold_against_definition(mutation.function, mutant)
