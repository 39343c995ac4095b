"""What must a critic read to know whether a task will be done? `make bench-critic` answers.

Heads of the critic's own kind (`agent.critic`) are trained on half of the trajectories that the
starter played (`critic_data`), with cross-entropy against their success, each on one kind of input:

    state            what the critic reads today: the decoder's state before its first word
    state_pooled     and the encoder's states, pooled over the screen and over the prompt
    pooled           those alone
    words            the words of the instruction alone, as a bag
    state_words      what it reads today, and the words
    all              all of it, with the number of the step
    …_more           the best of them, for four times as many steps of the optimiser

Shown is the Brier score of the other half, whose base rate (success on the training half) has
p·(1 − p); `gain` is the share of it that is gone, `template` what the mean of each template would
gain. Trajectories are split, not steps. Five splits; mean, and the lowest of them. In training goes
what gains 0.3 or more.

`--data DIR` holds what was played (`--collect N` plays N trajectories more, a few minutes of a core
for 200). Writes results/critic.json.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.critic_data import CriticData, Floats, collect, joined
from benchmarks.results_file import write_results
from distrl.agent.critic import Critic, CriticSettings

SPLITS = 5
STEPS = 300  # of the optimiser
MORE = 4  # times as many
BATCH = 128  # turns
RATE = 1e-3  # as in training
CHUNK = 40  # trajectories that are kept at once

Inputs = Callable[[CriticData], Floats]  # [N, features]
INPUTS: dict[str, Inputs] = {
    "state": lambda data: data.state,
    "state_pooled": lambda data: _side_by_side(data.state, data.screen, data.prompt),
    "pooled": lambda data: _side_by_side(data.screen, data.prompt),
    "words": lambda data: data.words,
    "state_words": lambda data: _side_by_side(data.state, data.words),
    "all": lambda data: _side_by_side(
        data.state, data.screen, data.prompt, data.words, _progress(data)
    ),
}


def _side_by_side(*parts: Floats) -> Floats:
    """Each part scaled to one size: heads begin with a norm over all of them."""
    scaled = [part / (part.std() + 1e-6) for part in parts]
    return np.concatenate(scaled, axis=1)


def _progress(data: CriticData) -> Floats:  # [N, 2]
    return np.stack([data.step, data.limit - data.step], axis=1)


def halves(data: CriticData, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which steps are trained on and which are held out: whole trajectories, half of them each."""
    numbers = np.unique(data.trajectory)
    chosen = np.random.default_rng(seed).permutation(numbers)[: len(numbers) // 2]
    trained = np.isin(data.trajectory, chosen)
    return trained, ~trained


def held_out_brier(inputs: Floats, success: Floats, trained: np.ndarray, steps: int) -> float:
    """Of a critic that was trained on some steps, on the others."""
    seen, wanted = torch.from_numpy(inputs), torch.from_numpy(success)
    critic = _trained(seen[trained], wanted[trained], steps)
    with torch.no_grad():
        values = critic.values(seen[~trained]).sigmoid().amin(-1)
    return float((values - wanted[~trained]).square().mean())


def _trained(seen: Tensor, wanted: Tensor, steps: int) -> Critic:
    critic = Critic(seen.shape[1], CriticSettings())
    optimiser = torch.optim.AdamW(critic.heads.parameters(), lr=RATE, weight_decay=0.0)
    rng = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = torch.randint(len(seen), (BATCH,), generator=rng)
        logits = critic.values(seen[rows])
        target = wanted[rows].unsqueeze(-1).expand_as(logits)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return critic


def template_brier(data: CriticData, trained: np.ndarray) -> float:
    """Of the mean success of each template, one trajectory of the base rate added to it."""
    base = float(data.success[trained].mean())
    means: dict[str, float] = {}
    for template in np.unique(data.template):
        own = data.success[trained & (data.template == template)]
        means[str(template)] = float((own.sum() + 5 * base) / (len(own) + 5))
    said = np.array([means[str(template)] for template in data.template[~trained]])
    return float(np.square(said - data.success[~trained]).mean())


def measure(data: CriticData, splits: int = SPLITS) -> dict[str, float]:
    gains: dict[str, list[float]] = {}
    base_rates = []
    for seed in range(splits):
        trained, held_out = halves(data, seed)
        rate = float(data.success[trained].mean())
        base = float(np.square(rate - data.success[held_out]).mean())
        base_rates.append(base)
        gains.setdefault("template", []).append(1.0 - template_brier(data, trained) / base)
        for name, inputs in INPUTS.items():
            for more in (1, MORE):
                brier = held_out_brier(inputs(data), data.success, trained, more * STEPS)
                label = name if more == 1 else f"{name}_more"
                gains.setdefault(label, []).append(1.0 - brier / base)
    return _figures(data, base_rates, gains)


def _figures(
    data: CriticData, bases: Sequence[float], gains: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    figures = {
        "trajectories": float(len(np.unique(data.trajectory))),
        "turns": float(len(data.step)),
        "success": float(data.success.mean()),
        "base_brier": statistics.fmean(bases),
    }
    for name, each in gains.items():
        figures[f"{name}_gain"] = statistics.fmean(each)
        figures[f"{name}_gain_lowest"] = min(each)
    return {name: round(value, 4) for name, value in figures.items()}


def collect_more(directory: Path, count: int) -> None:
    """Play so many more, and keep them a few at a time."""
    for number in range(-(-count // CHUNK)):
        seed, begun = len(list(directory.glob("*.npz"))), time.monotonic()
        some = collect(min(CHUNK, count - number * CHUNK), seed)
        some.save(directory / f"{seed:04}.npz")
        print(f"{CHUNK} trajectories in {time.monotonic() - begun:.0f} s", flush=True)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--data", type=Path, default=Path("runs/critic_data"))
    words.add_argument("--collect", type=int, default=0)
    chosen = words.parse_args()
    torch.set_num_threads(1)
    collect_more(chosen.data, chosen.collect)
    data = joined([CriticData.load(path) for path in sorted(chosen.data.glob("*.npz"))])
    figures = measure(data)
    for name, value in figures.items():
        print(f"{name:28} {value:.4g}")
    print(write_results("critic", figures))


if __name__ == "__main__":
    main()
