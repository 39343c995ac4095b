"""The tokens that all prompts begin with, read once for the weights as they are, for acting.

A dialect explains its actions in a system prompt, the same for every screen: half of the tokens of
a prompt for Qwen2.5-VL on the simulated phone. What the layers made of them (keys and values) does
not depend on what follows, so it is computed once and used by every decision until the weights
move. Which tokens these are is found out from two prompts that share their system prompt alone; of
a batch, only what all of its prompts begin with is used. The learner reads whole prompts: gradients
go through all of their tokens.

On a GPU the attention kernels are others than those that tests compare. There the first batch is
read whole as well, and if the two disagree by more than rounding, all that follow are read whole.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

import torch
from torch import Tensor

from distrl.agent.architectures.architecture import (
    Architecture,
    DecodingState,
    PrefixStates,
    Tensors,
)
from distrl.agent.architectures.decoder_only import DecoderOnly
from distrl.agent.families.model_family import InputBuilder
from distrl.agent.prompt import Prompt

MIN_TOKENS = 16  # for fewer it is not worth the copies
PROBES = ("Yes", "No")
COMPARED_ON = ("cuda",)  # kinds of devices
ROUNDING = 0.25  # of the probability of the next token, in all; bf16 moves a few hundredths
log = logging.getLogger(__name__)


class SharedPrefix:
    """Begins decodings, from what is known of the first tokens where it can.

    `reused` is how many tokens of the last batch were not read again, `reads` how often the first
    tokens were read so far. `enabled` may be taken back.
    """

    def __init__(self, builder: InputBuilder, compared_on: Collection[str] = COMPARED_ON) -> None:
        self.enabled = True
        self._compared_on = compared_on
        self.reused = self.reads = 0
        self._builder = builder
        self._tokens: dict[str, Tensor] = {}  # by system prompt; each [t]
        self._states: PrefixStates | None = None
        self._made_of: tuple[object, ...] = ()

    def begin(
        self, architecture: Architecture, inputs: Tensors, max_new_tokens: int, system: str
    ) -> DecodingState:
        """`system`: the system prompt that the prompts were written with."""
        self.reused = 0
        if not self.enabled or not isinstance(architecture, DecoderOnly):
            return architecture.begin(inputs, max_new_tokens)
        count, tokens = 0, self._tokens_of(system)
        if architecture.can_share_prefix:
            count = common_tokens(inputs, tokens)
        if count < MIN_TOKENS:
            return architecture.begin(inputs, max_new_tokens)
        if architecture.device.type in self._compared_on:
            whole = next_probabilities(architecture.begin(inputs, max_new_tokens))
        else:
            whole = None
        prefix = self._states_of(architecture, system, tokens).first(count)
        decoding = architecture.begin(inputs, max_new_tokens, prefix)
        if whole is not None:
            self._compared_on = ()
            apart = float((next_probabilities(decoding) - whole).abs().sum(dim=-1).max() / 2)
            if not apart <= ROUNDING:
                log.warning("prompts read from a shared prefix are off by %.2f: not used", apart)
                self.enabled = False
                return architecture.begin(inputs, max_new_tokens)
        self.reused = count * len(inputs["input_ids"])
        return decoding

    def _tokens_of(self, system: str) -> Tensor:
        if system not in self._tokens:
            probes = self._builder.build([Prompt(system, words, ()) for words in PROBES]).tensors
            first = probes["input_ids"][0][probes["attention_mask"][0] == 1]
            self._tokens = {system: first[: common_tokens(probes, first)]}
        return self._tokens[system]

    def _states_of(self, architecture: DecoderOnly, system: str, tokens: Tensor) -> PrefixStates:
        """Computed anew when any weight has moved."""
        versions = sum(each._version for each in architecture.network.parameters())
        now = (architecture, system, versions, torch.is_autocast_enabled(architecture.device.type))
        if self._states is None or self._made_of != now:
            self._states = None  # frees the old ones first
            self._states, self._made_of = architecture.read_prefix(tokens), now
            self.reads += 1
        return self._states


def next_probabilities(decoding: DecodingState) -> Tensor:  # [n, vocabulary]
    return decoding.logits.float().softmax(dim=-1)


def common_tokens(inputs: Tensors, tokens: Tensor) -> int:
    """How many of these tokens, [t], all prompts of a batch begin with, each with more to come."""
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    lengths = mask.sum(dim=1)
    count = min(len(tokens), int(lengths.min()) - 1)
    first = (ids.shape[1] - lengths).unsqueeze(1) + torch.arange(max(count, 0))  # after the padding
    same = ids.gather(1, first) == tokens[: max(count, 0)]
    return int(same.long().cumprod(dim=1).sum(dim=1).min())
