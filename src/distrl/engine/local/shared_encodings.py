"""Sends the collectors' encodings to the learner's cache, so that nothing is encoded twice.

If the encoder is frozen and everything runs on the CPU, what a collector encodes to decide is what
the learner would encode to train on it, and that is most of an update's work. A collector sends an
encoding as soon as it is made, keyed by content (`agent.encoding_cache`); the learner keeps it
until the trajectory is drawn. It is only a cache: what is lost on the way is encoded again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import safetensors.torch

from distrl.agent.encoding_cache import Parts, encoding_key
from distrl.agent.prompt import Prompt
from distrl.agent.vlm_policy import VlmPolicy
from distrl.engine.ingest.messages import Encodings
from distrl.replay.compressed_screen import compress


@dataclass(slots=True)
class EncodingSender:
    """Implements `Share` of a collector's policy: sends over its connection while `wanted`."""

    send: Callable[[Encodings], None]
    wanted: bool = False

    def __call__(self, prompts: Sequence[Prompt], parts: Parts) -> None:
        if self.wanted:
            tensors = {str(number): part.contiguous() for number, part in enumerate(parts)}
            # Keys are those of packed screens, as the learner's replay holds them. An episode's
            # screens are packed already, also in a policy process: `compress` returns them as is.
            packed = (replace(each, screens=tuple(map(compress, each.screens))) for each in prompts)
            keys = tuple(map(encoding_key, packed))
            self.send(Encodings(keys, safetensors.torch.save(tensors)))


def encoding_receiver(policy: object) -> Callable[[Encodings], None] | None:
    """Return what puts received encodings into the learner's cache; None: of no use there."""
    if not isinstance(policy, VlmPolicy) or not policy.shares_encodings:
        return None

    def receive(encodings: Encodings) -> None:
        tensors = safetensors.torch.load(encodings.parts)
        parts = tuple(tensors[str(number)] for number in range(len(tensors)))
        policy.encodings.put(encodings.keys, parts)

    return receive
