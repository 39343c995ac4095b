"""Where a run shows how it stands: a terminal (`live_view`), or whoever passes it on to one."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from distrl.runs.run_status import RunStatus


class RunView(Protocol):
    """Entered while there is something to show. Any thread may `say` something."""

    def show(self, status: RunStatus) -> None: ...

    def say(self, sentence: str) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
