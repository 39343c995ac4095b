"""What a model is asked: the instruction, what was done so far, and the screen.

The one place where an observation becomes words. How much of the past is told is a setting: past
actions as text, in the dialect that the model is to answer in, and the last few screens. The words
around them come from `wordings`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from distrl.agent.dialects.dialect import Dialect, ImageSize
from distrl.agent.prompt_templates import PromptTemplate, prompt_template_for
from distrl.errors import InvalidSetting
from distrl.records import Action, Observation, Screen, Unreadable

_BLANK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What one model call is asked. `screens` has the oldest first and the current one last."""

    system: str
    text: str
    screens: tuple[Screen, ...]


def full_size(screen: Screen) -> ImageSize:
    """The size of a picture that nobody resizes."""
    return ImageSize(screen.width, screen.height)


class Prompter:
    """Writes prompts. The same observation always gives the same prompt.

    `seen_size` says how large the model sees a screen, for dialects that count in pixels: past
    actions are written with it, and `{width}` and `{height}` in a system text are filled with it.
    """

    def __init__(
        self,
        dialect: Dialect,
        past_actions: int = 4,  # how many of the last actions are told; 0 or more
        past_screens: int = 0,  # how many screens before the current one are shown; 0 or more
        *,
        seen_size: Callable[[Screen], ImageSize] = full_size,
        prompt_template: PromptTemplate | None = None,  # None: the one that goes with the dialect
        system: str | None = None,  # None: what the dialect says must be told
    ) -> None:
        for name, value in (("past_actions", past_actions), ("past_screens", past_screens)):
            if value < 0:
                raise InvalidSetting(f"prompt.{name}={value!r}; give 0 or more")
        self.dialect = dialect
        self.past_actions = past_actions
        self.past_screens = past_screens
        self.seen_size = seen_size
        self.prompt_template = prompt_template or prompt_template_for(dialect.name)
        self.system = dialect.instructions if system is None else system

    def write(self, observation: Observation) -> Prompt:
        size = self.seen_size(observation.screen)
        history = self._history(observation.past_actions, size)
        question = _filled(
            self.prompt_template.question, instruction=observation.instruction, history=history
        )
        shown = observation.past_screens[-self.past_screens :] if self.past_screens else ()
        return Prompt(
            system=_filled(self.system, width=str(size.width), height=str(size.height)),
            text=question.strip(),
            screens=(*shown, observation.screen),
        )

    def _history(self, actions: tuple[Action, ...], size: ImageSize) -> str:
        """The last actions, numbered as they were done."""
        steps = list(enumerate(actions, start=1))
        told = steps[-self.past_actions :] if self.past_actions else []
        if not told:
            return self.prompt_template.no_steps
        return self.prompt_template.separator.join(
            _filled(self.prompt_template.step, number=str(number), action=self._told(action, size))
            for number, action in told
        )

    def _told(self, action: Action, size: ImageSize) -> str:
        """What could not be read may be of any length and hold any token: it is not repeated."""
        if isinstance(action, Unreadable):
            return self.prompt_template.unreadable
        return self.dialect.write(action, size)


def _filled(template: str, **words: str) -> str:
    """All blanks in one pass, so that braces in an instruction stay what they are."""
    return _BLANK.sub(lambda blank: words.get(blank[1], blank[0]), template)
