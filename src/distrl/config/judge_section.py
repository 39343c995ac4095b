"""Who says that a task was done: the section `judge` of a run's settings.

    facts           the facts of a simulated phone; exact, during the episode (the default)
    android_world   AndroidWorld's own scores, during the episode
    vlm             a vision-language model behind a server, after the episode, while phones play on

Only `vlm` reads the other settings. The key of its server is taken from the environment variable
`DISTRL_JUDGE_KEY` and stands in no file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from distrl.bounds import Bounds, check_bounds
from distrl.errors import InvalidSetting

JudgeKind = Literal["facts", "vlm", "android_world"]


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The judge. Prices and costs are in any one currency."""

    kind: JudgeKind = "facts"
    server: str = ""  # an OpenAI-compatible url, up to and with /v1
    model: str = ""
    examples: str = ""  # a TOML file of examples for the judge; none: ours
    last_screens: Annotated[int, Bounds(1, 64, "screens that it sees")] = 2
    last_actions: Annotated[int, Bounds(0, 1000, "actions that it is told")] = 4
    answer_tokens: Annotated[int, Bounds(1, 10**6, "tokens")] = 512
    readings: Annotated[int, Bounds(1, 100, "answers, should one be unreadable")] = 3
    picture_height: Annotated[int, Bounds(1, 10**5, "pixels, at most")] = 1280
    deadline_seconds: Annotated[float, Bounds(0.1, 3600.0, "seconds for an answer")] = 120.0
    tries: Annotated[int, Bounds(1, 1000, "tries within the deadline")] = 5
    at_once: Annotated[int, Bounds(1, 1024, "questions")] = 16
    max_waiting: Annotated[int, Bounds(1, 10**5, "trajectories, then phones wait")] = 256
    requests_per_minute: Annotated[float, Bounds(0.001, math.inf, "questions a minute")] = math.inf
    burst: Annotated[int, Bounds(1, 10**5, "questions at once after a pause")] = 1
    max_cost: Annotated[float, Bounds(0.0, math.inf, "then nobody is asked")] = math.inf
    prompt_price: Annotated[float, Bounds(0.0, 1e6, "per million tokens")] = 0.0
    answer_price: Annotated[float, Bounds(0.0, 1e6, "per million tokens")] = 0.0
    second_model: str = ""  # asked about `second_share` of the trajectories as well
    second_server: str = ""  # where that one is; none: on the same server
    second_share: Annotated[float, Bounds(0.0, 1.0, "of the trajectories")] = 0.1

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.kind == "vlm" and not (self.server and self.model):
            raise InvalidSetting(
                f"server={self.server!r} and model={self.model!r} with kind='vlm'; name a server, "
                "such as http://localhost:8000/v1, and the model that judges there"
            )

    @property
    def later(self) -> bool:
        """Does the verdict come after the episode, and need nothing of the phone?"""
        return self.kind == "vlm"
