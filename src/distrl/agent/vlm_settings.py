"""The settings of a vision-language policy; every default runs on a laptop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.critic import CriticSettings
from distrl.agent.lora import LoraSettings
from distrl.errors import InvalidSetting

WeightType = Literal["float32", "bfloat16"]


@dataclass(frozen=True, slots=True)
class VlmSettings:
    """How a model is asked, how it answers, what of it is trained, and where it computes."""

    past_actions: int | None = None  # number of past actions in a prompt; None: the family's
    past_screens: int = 0  # number of screens before the current one; 0 or more
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    critic: CriticSettings = field(default_factory=CriticSettings)
    lora: LoraSettings | None = None  # None: all weights are trained
    gradient_checkpointing: bool = False  # a third more time, a fraction of the memory
    device: str = "cpu"  # or cuda, cuda:1, …
    weights: WeightType = "float32"  # bfloat16 for models that are large, on a GPU
    seed: int = 0  # of adapters, critic and draws; 0 or more

    def __post_init__(self) -> None:
        for name in ("past_actions", "past_screens", "seed"):
            if (getattr(self, name) or 0) < 0:
                raise InvalidSetting(f"policy.{name}={getattr(self, name)!r}; give 0 or more")
        if self.weights not in ("float32", "bfloat16"):
            raise InvalidSetting(f"policy.weights={self.weights!r}; give float32 or bfloat16")
        if self.weights == "bfloat16" and self.device == "cpu":
            raise InvalidSetting(
                'policy.weights="bfloat16" with policy.device="cpu": slower than float32 there, '
                "and on some processors the end of the process; take float32, or a GPU"
            )
