"""The settings of a `VlmPolicy`; every default runs on a laptop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.critic import CriticSettings
from distrl.agent.lora import LoraSettings
from distrl.bounds import Bounds, Fixed, Meaning, Seed, check_bounds
from distrl.errors import InvalidSetting

WeightType = Literal["float32", "bfloat16"]
Checkpointing = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class VlmSettings:
    """Prompts, sampling, critic, adapters, caches, device and dtype of a policy."""

    past_actions: Annotated[
        int | None, Bounds(0, 1000, "last actions in a prompt; none: as the model was taught")
    ] = None
    past_screens: Annotated[int, Bounds(0, 1000, "screens before the current one in a prompt")] = 0
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    critic: CriticSettings = field(default_factory=CriticSettings)
    lora: Annotated[
        LoraSettings | None, Meaning("a section for adapters; none: all weights are trained")
    ] = None
    gradient_checkpointing: Annotated[
        Checkpointing,
        Meaning("a third more time for a fraction of the memory; auto: where a GPU has too little"),
    ] = "auto"
    compile_vision: Annotated[
        bool,
        Meaning("Qwen-VL on a GPU: half the time for pictures, after 10 s; needs a C compiler"),
    ] = False
    cache_megabytes: Annotated[
        int, Bounds(0, 10**7, "MB for what frozen encoders made of screens; 0: encode anew")
    ] = 1024
    device: Annotated[
        str, Meaning("the torch device: cpu, cuda, cuda:1; mps was never tried", r"[a-z]+(:\d+)?")
    ] = "cpu"
    weights: Annotated[WeightType, Meaning("bfloat16 for large models, on a GPU")] = "float32"
    seed: Annotated[Seed, Fixed("adapters, critic and draws are seeded by run.seed")] = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.weights == "bfloat16" and self.device == "cpu":
            raise InvalidSetting(
                'policy.weights="bfloat16" with policy.device="cpu": slower than float32 there, '
                "and on some processors the end of the process; take float32, or a GPU"
            )
