"""Find the inputs from which a critic predicts success best (`make bench-critic`).

Heads of the critic's own kind (`agent.critic`) are trained on half of the trajectories that the
starter played (`critic_data`), with cross-entropy against their success, each on one kind of input:

    state            what the critic reads today: the decoder's state before its first word
    state_pooled     that, and the encoder's states, pooled over the screen and over the prompt
    pooled           the pooled states alone
    words            the words of the instruction alone, as a bag of words
    state_words      what it reads today, and the words
    instruction_words   the same two, as the critic reads them with that setting: each bag scaled to
                     length 1 instead of one standard deviation of the data
    all              all of it, with the number of the step
    …_more           the same input, for four times as many steps of the optimiser

The measure is the Brier score on the other half. The base rate (success on the training half)
scores p·(1 − p); `gain` is the share of that score that the head removes, and `template` what the
mean of each template would gain. Trajectories are split, not steps. Five splits; mean, and the
lowest of them. A third of all trajectories takes no part in that: the best input is chosen without
them, trained on all others, and `chosen_test_gain` is what it gains on them, with a 95 % interval
over trajectories, beside `state_test_gain`, `instruction_words_test_gain` and `template_test_gain`.
`…_new_templates_gain`: trained on half of the templates and tested on the others, which says
whether a head knows more than the template. An input that gains 0.3 or more on the third is used in
training.

`--data DIR` holds the played trajectories (`--collect N` plays N more, a few minutes of a core for
200). Writes results/critic.json.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

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
CHUNK = 40  # trajectories per file
TEST_SHARE = 1 / 3  # share of the trajectories held out for the final test
RESAMPLES = 2000
TEST_SEED = 1_000  # differs from the seeds of the splits that choose

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

BUILT = "instruction_words"  # this critic takes the words as a separate input


def _side_by_side(*parts: Floats) -> Floats:
    """Scale each part to one standard deviation, since heads begin with a norm over all of them."""
    scaled = [part / (part.std() + 1e-6) for part in parts]
    return np.concatenate(scaled, axis=1)


def _progress(data: CriticData) -> Floats:  # [N, 2]
    return np.stack([data.step, data.limit - data.step], axis=1)


def some_of(names: np.ndarray, of_steps: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return the mask of the steps that belong to a share of the names, drawn by the seed."""
    drawn = np.random.default_rng(seed).permutation(np.unique(names))
    return np.isin(of_steps, drawn[: int(len(drawn) * share)])


def halves(data: CriticData, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the masks of the training and the held-out half; trajectories stay whole."""
    trained = some_of(data.trajectory, data.trajectory, 0.5, seed)
    return trained, ~trained


def held_out_brier(inputs: Floats, success: Floats, trained: np.ndarray, steps: int) -> float:
    """Return the Brier score on the held-out steps of a critic trained on the others."""
    return float(held_out_errors(inputs, success, trained, steps).mean())


def held_out_errors(
    inputs: Floats,
    success: Floats,
    trained: np.ndarray,
    steps: int,
    bags: Floats | None = None,  # [N, slots]: words that the critic reads by its own setting
) -> Floats:  # [held out]
    """Return the squared error of each held-out step."""
    seen, wanted = torch.from_numpy(inputs), torch.from_numpy(success)
    words = torch.from_numpy(np.zeros((len(inputs), 0), np.float32) if bags is None else bags)
    critic = _trained(seen[trained], words[trained], wanted[trained], steps)
    with torch.no_grad():
        values = critic.values(seen[~trained], words[~trained]).sigmoid().amin(-1)
    errors: Floats = (values - wanted[~trained]).square().numpy()
    return errors


def _trained(seen: Tensor, words: Tensor, wanted: Tensor, steps: int) -> Critic:
    critic = Critic(seen.shape[1], CriticSettings(instruction_words=words.shape[1]))
    optimiser = torch.optim.AdamW(critic.heads.parameters(), lr=RATE, weight_decay=0.0)
    rng = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = torch.randint(len(seen), (BATCH,), generator=rng)
        logits = critic.values(seen[rows], words[rows])
        target = wanted[rows].unsqueeze(-1).expand_as(logits)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return critic


def template_brier(data: CriticData, trained: np.ndarray) -> float:
    """Return the Brier score of predicting the mean success of each template."""
    return float(template_errors(data, trained).mean())


def template_errors(data: CriticData, trained: np.ndarray) -> Floats:
    """Return squared errors of each template's mean, smoothed by five steps of the base rate."""
    base = float(data.success[trained].mean())
    means: dict[str, float] = {}
    for template in np.unique(data.template):
        own = data.success[trained & (data.template == template)]
        means[str(template)] = float((own.sum() + 5 * base) / (len(own) + 5))
    said = np.array([means[str(template)] for template in data.template[~trained]])
    errors: Floats = np.square(said - data.success[~trained]).astype(np.float32)
    return errors


def measure(data: CriticData, splits: int = SPLITS) -> dict[str, float]:
    last = some_of(data.trajectory, data.trajectory, TEST_SHARE, seed=TEST_SEED)
    gains = gains_of(_only(data, ~last), splits)
    chosen = max(
        (name for name in gains if name != "template"), key=lambda each: fmean(gains[each])
    )
    figures = {
        "trajectories": float(len(np.unique(data.trajectory))),
        "turns": float(len(data.step)),
        "success": float(data.success.mean()),
    }
    for name, each in gains.items():
        figures[f"{name}_gain"] = fmean(each)
        figures[f"{name}_gain_lowest"] = min(each)
    print(f"chosen: {chosen}")
    labels = {"template": "template", "state": "state", BUILT: BUILT, "chosen": chosen}
    for label, name in labels.items():
        figures |= on_the_test(data, ~last, name, f"{label}_test_gain")
        if name != "template":
            known = some_of(data.template, data.template, 0.5, seed=0)
            figures |= on_the_test(data, known, name, f"{label}_new_templates_gain")
    return {name: round(value, 4) for name, value in figures.items()}


def gains_of(data: CriticData, splits: int) -> dict[str, list[float]]:
    """Return the gain of every input on every split."""
    gains: dict[str, list[float]] = {}
    for seed in range(splits):
        trained, _ = halves(data, seed)
        base = base_errors(data, trained).mean()
        for name in ("template", *(n + more for n in (*INPUTS, BUILT) for more in ("", "_more"))):
            gains.setdefault(name, []).append(
                1.0 - float(errors_of(data, trained, name).mean() / base)
            )
    return gains


def on_the_test(data: CriticData, trained: np.ndarray, name: str, label: str) -> dict[str, float]:
    """Return the held-out gain of an input, with a bootstrap interval over trajectories."""
    number = data.trajectory[~trained]
    sums = [
        np.bincount(number, weights=errors)
        for errors in (errors_of(data, trained, name), base_errors(data, trained))
    ]
    present = np.unique(number)
    own, base = (each[present] for each in sums)
    drawn = np.random.default_rng(0).integers(len(present), size=(RESAMPLES, len(present)))
    low, high = np.quantile(1.0 - own[drawn].sum(1) / base[drawn].sum(1), (0.025, 0.975))
    found = 1.0 - own.sum() / base.sum()
    return {label: float(found), f"{label}_low": float(low), f"{label}_high": float(high)}


def base_errors(data: CriticData, trained: np.ndarray) -> Floats:
    """Return squared errors of predicting the mean success of the training steps."""
    errors: Floats = np.square(data.success[trained].mean() - data.success[~trained])
    return errors


def errors_of(data: CriticData, trained: np.ndarray, name: str) -> Floats:
    """Return squared errors of an input (`…_more`: more steps) or of `template`."""
    if name == "template":
        return template_errors(data, trained)
    steps = MORE * STEPS if name.endswith("_more") else STEPS
    plain = name.removesuffix("_more")
    if plain == BUILT:
        return held_out_errors(data.state, data.success, trained, steps, data.words)
    inputs = INPUTS[plain](data)
    return held_out_errors(inputs, data.success, trained, steps)


def _only(data: CriticData, rows: np.ndarray) -> CriticData:
    return CriticData(**{name: getattr(data, name)[rows] for name in CriticData.__slots__})


def collect_more(directory: Path, count: int) -> None:
    """Play `count` more trajectories, written to files of `CHUNK`."""
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
