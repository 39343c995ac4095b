"""An errand policy that is a small network: the taught logits plus a learned correction.

The network reads the kind of the open page, the entry on top and the word of the errand that counts
there; its output is added to the taught logits. So, unlike in a table, learning about one page also
changes the answers on others, as in a large model. The critic is another network of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Linear, Parameter, Sequential, Tanh
from torch.nn.functional import one_hot

from benchmarks.errand_phone import DEPTH, SIZES, ErrandPolicy, row_names, taught_policy
from distrl.agent.trainable_policy import Scores
from distrl.records import Observation

HIDDEN = 64
KINDS, ENTRIES = DEPTH + 3, max(SIZES) + 1  # the last entry of `ENTRIES`: none


class ErrandNetwork(ErrandPolicy):
    """Implements `TrainablePolicy`. Its initial answers are those of `taught_policy`."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._taught = taught_policy().logits.detach()  # [rows, nodes, words]
        self._features = _features()
        self._actor = _network(self._taught[0].numel(), seed=1)
        self._critic = _network(self.value_table.shape[1], seed=2)

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        states = self._states(observations)
        given = [tuple(answer) for answer in answers]
        width = max((len(answer) for answer in given), default=0)
        nodes = torch.tensor([self._path(answer, width) for answer in given])
        tokens = torch.tensor([answer + (0,) * (width - len(answer)) for answer in given])
        lengths = torch.tensor([len(answer) for answer in given])
        distribution = self._log_softmax(self._logits()[states.unsqueeze(1), nodes])
        return Scores(
            log_probs=distribution.gather(-1, tokens.unsqueeze(-1)).squeeze(-1),
            entropies=-(distribution.exp() * distribution).sum(-1),
            token_mask=torch.arange(width) < lengths.unsqueeze(1),
            value_logits=self._values()[states],
        )

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:
        return self._values()[self._states(observations)]

    def policy_parameters(self) -> Iterable[Parameter]:
        return list(self._actor.parameters())

    def critic_parameters(self) -> Iterable[Parameter]:
        return [*self._critic.parameters(), self.instruction_table]

    def _logits(self) -> Tensor:  # [rows, nodes, words]
        return torch.add(self._taught, self._actor(self._features).reshape(self._taught.shape))

    def _values(self) -> Tensor:  # [rows, heads]
        values: Tensor = self._critic(self._features)
        return values

    def _log_prob_table(self) -> NDArray[np.float64]:
        edition = sum(int(each._version) for each in self._actor.parameters())
        if self._known is None or self._known[0] != edition:
            with torch.no_grad():
                self._known = (edition, self._log_softmax(self._logits()).double().numpy())
        return self._known[1]

    def _parameters(self) -> dict[str, Parameter]:
        networks = {"actor": self._actor, "critic": self._critic}
        return {"instructions": self.instruction_table} | {
            f"{name}.{part}": parameter
            for name, network in networks.items()
            for part, parameter in network.named_parameters()
        }


def _features() -> Tensor:  # [rows, features]
    """Return one-hot features of each row: the kind, the entry on top, and the word (or none)."""
    columns = []
    for kind, *rest in row_names():
        top, word = (rest[0], rest[1]) if len(rest) == 2 else (ENTRIES - 1, *rest, ENTRIES - 1)[:2]
        columns.append((kind, top, word))
    kinds, tops, words = torch.tensor(columns).unbind(1)
    return torch.cat(
        [one_hot(kinds, KINDS), one_hot(tops, ENTRIES), one_hot(words, ENTRIES)], 1
    ).float()


def _network(outputs: int, seed: int) -> Sequential:
    """Return a network whose output is 0 at first, and the same for the same seed."""
    first, last = Linear(KINDS + 2 * ENTRIES, HIDDEN), Linear(HIDDEN, outputs)
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        first.weight.normal_(0.0, 0.5, generator=rng)
        first.bias.zero_()
        last.weight.zero_()
        last.bias.zero_()
    return Sequential(first, Tanh(), last)
