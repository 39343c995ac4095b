"""A trainable policy that is a table, for worlds so small that every answer can be listed.

Tests and benchmarks of learning use it where no model is wanted: it has the interface of a
vision-language policy, exact probabilities, and takes microseconds a decision. The state is the
number in the first pixel of the screen (red of [0, 0]). An answer is a few tokens, each drawn from
a softmax that depends on the state and on the tokens before it. It ends as soon as it can be read
(`answers`), or unreadable at `tokens_per_answer`. So answers form a prefix code, token and turn
ratios differ, and the probabilities of all `endings` of a state add up to 1.

The critic is a table too: a row of value logits (one per head) for each state, and one logit for
each of a few slots into which instructions are hashed (CRC-32).
"""

from __future__ import annotations

import itertools
import math
import random
import zlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.errors import InvalidSetting, UsageError
from distrl.records import Action, Decision, Observation, Unreadable

Tokens = tuple[int, ...]
Weights = dict[str, Tensor]


class TabularPolicy:
    """Implements `TrainablePolicy`. Starts uniform, with values near one half."""

    def __init__(
        self,
        states: int,
        vocabulary: int,
        answers: Mapping[Tokens, Action],
        *,
        tokens_per_answer: int = 2,
        temperature: float = 1.0,
        heads: int = 2,
        instruction_slots: int = 64,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if not (1 <= states <= 256 and vocabulary >= 2 and tokens_per_answer >= 1):
            raise InvalidSetting(
                f"states={states!r}, vocabulary={vocabulary!r}, tokens_per_answer="
                f"{tokens_per_answer!r}; give 1 to 256 states (a pixel holds no more), at least "
                "2 words and 1 token"
            )
        if not (temperature > 0.0 and heads >= 1 and instruction_slots >= 1):
            raise InvalidSetting(
                f"temperature={temperature!r}, heads={heads!r}, instruction_slots="
                f"{instruction_slots!r}; all must be above 0"
            )
        self.answers = dict(answers)
        self.temperature = temperature
        self.states = states
        self.nodes, self.endings = _answer_tree(vocabulary, tokens_per_answer, self.answers)
        noise = random.Random(f"tabular_policy/heads/{seed}")
        opinions = [[noise.gauss(0.0, 0.01) for _ in range(heads)] for _ in range(states)]
        parameter = torch.nn.Parameter
        self.logits = parameter(torch.zeros(states, len(self.nodes), vocabulary, dtype=dtype))
        self.value_table = parameter(torch.tensor(opinions, dtype=dtype))  # so that heads differ
        self.instruction_table = parameter(torch.zeros(instruction_slots, dtype=dtype))
        self._version = 0
        self._rng = random.Random(f"tabular_policy/decide/{seed}")
        self._known: tuple[int, NDArray[np.float64]] | None = None

    @property
    def weight_version(self) -> int:
        return self._version

    def seed(self, seed: int | str) -> None:
        """Restart the random draws from a seed."""
        self._rng = random.Random(f"tabular_policy/decide/{seed}")

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [self._decide(self.state_of(observation)) for observation in observations]

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        states = self._states(observations)
        given = [tuple(answer) for answer in answers]
        width = max((len(answer) for answer in given), default=0)
        nodes = _numbers([self._path(answer, width) for answer in given], width)
        tokens = _numbers([answer + (0,) * (width - len(answer)) for answer in given], width)
        lengths = torch.tensor([len(answer) for answer in given])
        distribution = self._log_softmax(self.logits[states.unsqueeze(1), nodes])  # [n, k, v]
        return Scores(
            log_probs=distribution.gather(-1, tokens.unsqueeze(-1)).squeeze(-1),
            entropies=-(distribution.exp() * distribution).sum(-1),
            token_mask=torch.arange(width) < lengths.unsqueeze(1),
            value_logits=self.value_table[states],
        )

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:
        return self.value_table[self._states(observations)]

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor:
        slots = len(self.instruction_table)
        return self.instruction_table[[zlib.crc32(i.encode()) % slots for i in instructions]]

    def policy_parameters(self) -> Iterable[torch.nn.Parameter]:
        return [self.logits]

    def critic_parameters(self) -> Iterable[torch.nn.Parameter]:
        return [self.value_table, self.instruction_table]

    def weights(self) -> Weights:
        """Return a copy of everything that is learned."""
        return {name: parameter.detach().clone() for name, parameter in self._parameters().items()}

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Load weights of a policy of the same shape; later decisions carry `version`."""
        parameters = self._parameters()
        if set(weights) != set(parameters):
            raise UsageError(f"weights {sorted(weights)} given, {sorted(parameters)} wanted")
        with torch.no_grad():
            for name, parameter in parameters.items():
                if parameter.shape != weights[name].shape:
                    raise UsageError(
                        f"weights {name}: {tuple(weights[name].shape)} given, "
                        f"{tuple(parameter.shape)} wanted; was it a policy of another world?"
                    )
                parameter.copy_(weights[name])
        self._version = version

    def state_of(self, observation: Observation) -> int:
        """Return the number of the state that a screen shows."""
        state = int(observation.screen.pixels[0, 0, 0])
        if state >= self.states:
            raise UsageError(f"the screen shows state {state}; this table ends at {self.states}")
        return state

    def answer_probabilities(self) -> NDArray[np.float64]:  # [states, endings]
        """Return the exact probability of each of the `endings` in each state."""
        table = self._log_prob_table()
        log_probs = np.zeros((self.states, len(self.endings)))
        for column, answer in enumerate(self.endings):
            for position, token in enumerate(answer):
                log_probs[:, column] += table[:, self.nodes[answer[:position]], token]
        return np.asarray(np.exp(log_probs))

    def prefer(self, state: int, answer: Sequence[int], logit: float) -> None:
        """Make an answer likelier (or, below 0, rarer) by adding to the logits of its tokens."""
        tokens = tuple(answer)
        with torch.no_grad():
            for position, token in enumerate(tokens):
                self.logits[state, self._node(tokens[:position]), token] += logit

    def _decide(self, state: int) -> Decision:
        table = self._log_prob_table()[state]
        answer: Tokens = ()
        log_probs: list[float] = []
        while answer in self.nodes:
            row = table[self.nodes[answer]]
            token = _drawn(row, self._rng.random())
            answer += (token,)
            log_probs.append(float(row[token]))
        text = " ".join(str(token) for token in answer)
        action = self.answers.get(answer, Unreadable(text, "no such answer"))
        return Decision(action, text, answer, tuple(log_probs), self._version)

    def _log_prob_table(self) -> NDArray[np.float64]:  # [states, nodes, vocabulary]
        """Return log-probabilities, cached until an optimiser writes to the logits in place."""
        edition = int(self.logits._version)
        if self._known is None or self._known[0] != edition:
            with torch.no_grad():
                table = self._log_softmax(self.logits).double().numpy()
            self._known = (edition, table)
        return self._known[1]

    def _log_softmax(self, logits: Tensor) -> Tensor:
        return torch.log_softmax(logits / self.temperature, dim=-1)

    def _states(self, observations: Sequence[Observation]) -> Tensor:
        return torch.tensor([self.state_of(each) for each in observations], dtype=torch.long)

    def _path(self, answer: Tokens, width: int) -> list[int]:
        """Return the node at which each token was drawn; padding is node 0."""
        path = [self._node(answer[:position]) for position in range(len(answer))]
        return path + [0] * (width - len(answer))

    def _node(self, prefix: Tokens) -> int:
        if prefix not in self.nodes:
            raise UsageError(f"tokens after {prefix}, where every answer of this policy has ended")
        return self.nodes[prefix]

    def _parameters(self) -> dict[str, torch.nn.Parameter]:
        return {
            "logits": self.logits,
            "values": self.value_table,
            "instructions": self.instruction_table,
        }


def _answer_tree(
    vocabulary: int, longest: int, answers: Mapping[Tokens, Action]
) -> tuple[dict[Tokens, int], tuple[Tokens, ...]]:
    """Return a number for each prefix that continues, and all answers that end, readable or not."""
    nodes: dict[Tokens, int] = {(): 0}
    endings: list[Tokens] = []
    for length in range(1, longest + 1):
        for answer in itertools.product(range(vocabulary), repeat=length):
            if answer[:-1] not in nodes:
                continue
            if answer in answers or length == longest:
                endings.append(answer)
            else:
                nodes[answer] = len(nodes)
    unsayable = sorted(set(answers) - set(endings))
    if unsayable:
        raise InvalidSetting(
            f"answers {unsayable} cannot be said: they need more than {longest} tokens of a "
            f"vocabulary of {vocabulary}, or begin with another answer"
        )
    return nodes, tuple(endings)


def _numbers(rows: Sequence[Sequence[int]], width: int) -> Tensor:  # [rows, width]
    return torch.tensor(rows, dtype=torch.long).reshape(len(rows), width)


def _drawn(log_probs: NDArray[np.float64], rng: float) -> int:
    """Return the token at which the cumulative probability passes `rng`."""
    passed = 0.0
    for token, log_prob in enumerate(log_probs):
        passed += math.exp(log_prob)
        if rng < passed:
            return token
    return int(np.argmax(log_probs))  # reached only by rounding errors
