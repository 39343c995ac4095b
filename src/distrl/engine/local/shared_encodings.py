"""Encodings from the collectors' policies to the learner's cache, so that nothing is encoded twice.

Where the encoder never learns and all compute on the CPU, what a collector encodes to decide is
what the learner would encode to train on it, and that is most of an update's work. A collector
sends it as soon as it is made, by content (`agent.encoding_cache`); the learner keeps it until the
trajectory is drawn. Nothing depends on it: what is lost on the way is encoded again.
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
    """Implements `Share` of a collector's policy, over its connection, once it is `wanted`."""

    send: Callable[[Encodings], None]
    wanted: bool = False

    def __call__(self, prompts: Sequence[Prompt], parts: Parts) -> None:
        if self.wanted:
            tensors = {str(number): part.contiguous() for number, part in enumerate(parts)}
            # Keys of packed screens, as the learner's replay holds them. An episode's are packed
            # already, also where they came to a policy process: nothing is packed again.
            packed = (replace(each, screens=tuple(map(compress, each.screens))) for each in prompts)
            keys = tuple(map(encoding_key, packed))
            self.send(Encodings(keys, safetensors.torch.save(tensors)))


def encoding_receiver(policy: object) -> Callable[[Encodings], None] | None:
    """Puts what collectors send into the cache of the learner's policy; None: it has no use."""
    if not isinstance(policy, VlmPolicy) or not policy.shares_encodings:
        return None

    def receive(encodings: Encodings) -> None:
        tensors = safetensors.torch.load(encodings.parts)
        parts = tuple(tensors[str(number)] for number in range(len(tensors)))
        policy.encodings.put(encodings.keys, parts)

    return receive
