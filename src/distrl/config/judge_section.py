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

from distrl.bounds import Bounds, Fixed, Meaning, check_bounds
from distrl.errors import InvalidSetting

JudgeKind = Literal["facts", "vlm", "android_world"]


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The judge. Prices and costs are in any one currency."""

    kind: JudgeKind = "facts"
    server: Annotated[str, Meaning("an OpenAI-compatible url, up to and with /v1")] = ""
    model: Annotated[str, Meaning("name of the model on that server")] = ""
    examples: Annotated[str, Meaning("a TOML file of examples for the prompt; empty: ours")] = ""
    last_screens: Annotated[int, Bounds(1, 64, "last screens that the judge sees")] = (
        2  # in the prompt; `distrl rescore` sets it
    )
    deadline_seconds: Annotated[float, Bounds(0.1, 3600.0, "seconds for an answer")] = 120.0
    tries: Annotated[int, Bounds(1, 1000, "tries within the deadline")] = 5
    at_once: Annotated[int, Bounds(1, 1024, "requests at once")] = 16
    max_waiting: Annotated[
        int, Bounds(1, 10**5, "unjudged trajectories, then no episode starts")
    ] = 256
    requests_per_minute: Annotated[float, Bounds(0.001, unit="requests a minute")] = math.inf
    burst: Annotated[
        int, Bounds(1, 10**5, "requests"), Fixed("requests_per_minute says it in a run")
    ] = 1  # at once after a pause; `distrl rescore` sets it
    max_cost: Annotated[float, Bounds(0.0, unit="in all; then no request is made")] = math.inf
    prompt_price: Annotated[float, Bounds(0.0, 1e6, "per million tokens")] = 0.0
    answer_price: Annotated[float, Bounds(0.0, 1e6, "per million tokens")] = 0.0
    second_model: Annotated[str, Meaning("also judges second_share of the trajectories")] = ""
    second_server: Annotated[str, Meaning("its url; empty: the same server")] = ""
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
