"""Prefix caching for decisions: keys and values of the tokens that all prompts begin with.

A dialect explains its actions in a system prompt, the same for every screen: half of the tokens of
a prompt for Qwen2.5-VL on the simulated phone. Their keys and values do not depend on what follows,
so they are computed once and reused by every decision until the weights change. The shared tokens
are found by comparing two prompts that have only their system prompt in common; for a batch, only
the tokens that all of its prompts begin with are used. The learner computes whole prompts:
gradients go through all of their tokens.

On a GPU the attention kernels are not those that tests compare. There the first batch is also
computed without the prefix, and decoded for one token; if the logits differ by more than rounding,
the prefix is not used any more. Logits are compared and not probabilities: a policy that is certain
of its answer would give the same one even with wrong keys.
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

MIN_TOKENS = 16  # shorter prefixes are not worth the copies
PROBES = ("Yes", "No")
COMPARED_ON = ("cuda",)  # types of torch devices
ROUNDING = (
    0.1  # relative; bfloat16 causes 0.025 with 24 layers, keys shifted by one place 0.3 and more
)
log = logging.getLogger(__name__)


class SharedPrefix:
    """Begins decodings, from cached keys and values of the first tokens if possible.

    `reused` is the number of tokens of the last batch that were taken from the cache, `reads` how
    often the prefix was computed. If the check on a GPU fails, `enabled` becomes False and `notice`
    says why.
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
        """Begin decoding a batch; `system` is the system prompt that its prompts have."""
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
        """Return the prefix's states; compute them again if any weight has changed."""
        versions = sum(each._version for each in architecture.network.parameters())
        now = (architecture, system, versions, torch.is_autocast_enabled(architecture.device.type))
        if self._states is None or self._made_of != now:
            self._states = None  # free the old ones first
            self._states, self._made_of = architecture.read_prefix(tokens), now
            self.reads += 1
        return self._states


def logit_error(
    architecture: DecoderOnly, inputs: Tensors, max_new_tokens: int, prefix: PrefixStates
) -> float:
    """Return |logits from a prefix − logits of whole prompts| / |the latter|, the largest of all
    rows, for the next token and for the one after it.
    """
    tokens: Tensor | None = None
    found: list[Tensor] = []  # each [n, vocabulary]; decodings share memory, so run in turn
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
    """Return how many of these tokens, [t], all prompts of a batch begin with; at least one token
    of each prompt is left over.
    """
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    lengths = mask.sum(dim=1)
    count = min(len(tokens), int(lengths.min()) - 1)
    first = (ids.shape[1] - lengths).unsqueeze(1) + torch.arange(max(count, 0))  # after the padding
    same = ids.gather(1, first) == tokens[: max(count, 0)]
    return int(same.long().cumprod(dim=1).sum(dim=1).min())
