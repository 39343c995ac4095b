"""The tokens that all prompts begin with, read once for the weights as they are, for acting.

A dialect explains its actions in a system prompt, the same for every screen: half of the tokens of
a prompt for Qwen2.5-VL on the simulated phone. What the layers made of them (keys and values) does
not depend on what follows, so it is computed once and used by every decision until the weights
move. Which tokens these are is found out from two prompts that share their system prompt alone; of
a batch, only what all of its prompts begin with is used. The learner reads whole prompts: gradients
go through all of their tokens.

On a GPU the attention kernels are others than those that tests compare. There the first batch is
read whole as well, and decoded for a token, and if the logits of the two differ by more than
rounding, all that follow are read whole. Logits and not probabilities are compared: a policy that
is sure of its answer gives it with wrong keys too.
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
ROUNDING = (
    0.1  # of the logits; bfloat16 moves 0.025 with 24 layers, keys one place off 0.3 and more
)
log = logging.getLogger(__name__)


class SharedPrefix:
    """Begins decodings, from what is known of the first tokens where it can.

    `reused` is how many tokens of the last batch were not read again, `reads` how often the first
    tokens were read so far. `enabled` may be taken back; `notice` says why it was.
    """

    def __init__(self, builder: InputBuilder, compared_on: Collection[str] = COMPARED_ON) -> None:
        self.enabled = True
        self.notice = ""
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
        prefix = self._states_of(architecture, system, tokens).first(count)
        if architecture.device.type in self._compared_on:
            self._compared_on = ()
            apart = logit_error(architecture, inputs, max_new_tokens, prefix)
            if not apart <= ROUNDING:
                self.enabled = False
                self.notice = (
                    "the system prompt is read again for every decision: read once, it gave "
                    f"logits that are off by {apart:.2f} of their size on this GPU"
                )
                log.warning("%s", self.notice)
                return architecture.begin(inputs, max_new_tokens)
        self.reused = count * len(inputs["input_ids"])
        return architecture.begin(inputs, max_new_tokens, prefix)

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


def logit_error(
    architecture: DecoderOnly, inputs: Tensors, max_new_tokens: int, prefix: PrefixStates
) -> float:
    """|logits from a prefix − logits of whole prompts| / |the latter|, the largest of all rows: of
    the next token, and of the one after it.
    """
    tokens: Tensor | None = None
    found: list[Tensor] = []  # each [n, vocabulary]; one decoding takes over the memory of another
    for known in (None, prefix):
        decoding = architecture.begin(inputs, max(max_new_tokens, 2), known)
        found.append(decoding.logits.float())
        tokens = found[0].argmax(dim=-1) if tokens is None else tokens
        decoding.step(tokens)
        found.append(decoding.logits.float())
    whole, shared = (torch.cat(each) for each in (found[:2], found[2:]))
    whole, shared = (each - each.mean(dim=-1, keepdim=True) for each in (whole, shared))
    return float(((shared - whole).norm(dim=-1) / whole.norm(dim=-1)).max())


def common_tokens(inputs: Tensors, tokens: Tensor) -> int:
    """How many of these tokens, [t], all prompts of a batch begin with, each with more to come."""
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    lengths = mask.sum(dim=1)
    count = min(len(tokens), int(lengths.min()) - 1)
    first = (ids.shape[1] - lengths).unsqueeze(1) + torch.arange(max(count, 0))  # after the padding
    same = ids.gather(1, first) == tokens[: max(count, 0)]
    return int(same.long().cumprod(dim=1).sum(dim=1).min())
