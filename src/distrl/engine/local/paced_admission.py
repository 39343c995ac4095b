"""May an episode start? A collector's answer, by the learner's last word on the pace."""

from __future__ import annotations

from distrl.engine.ingest.messages import Pace


class PacedAdmission:
    """Implements `Admission` by the learner's last word; before its first nothing starts."""

    def __init__(self) -> None:
        self.pace = Pace(version=0)

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        return self.pace.may_start(weight_version, in_flight)
