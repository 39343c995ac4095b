"""The prompt of a model: the instruction, the past actions, and the screens.

The one place where an observation becomes text. How much of the past is in it is a setting: past
actions as text, in the dialect that the model is to answer in, and the last few screens.

The text around them is a `PromptTemplate`. Models were trained with prompts of a certain form, and
do worse with another; `PROMPT_TEMPLATES` has the forms that go with our dialects, and what a
dialect must explain beside them is `Dialect.instructions`. To reproduce a published score to the
letter, give the `Prompter` a `PromptTemplate` and a system text of the publisher's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from distrl.agent.dialects.dialect import Dialect, ImageSize
from distrl.errors import InvalidSetting
from distrl.records import Action, Observation, Screen, Unreadable


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """Texts with blanks: `{instruction}` and `{history}` in a question, `{action}` in a step."""

    question: str
    step: str = "{number}. {action}"
    separator: str = "\n"
    no_steps: str = "nothing yet"
    unreadable: str = "(an answer that could not be read)"


PLAIN = PromptTemplate("Task: {instruction}\n\nDone so far:\n{history}\n\nWhat is the next action?")

# Every token counts for a small model, so there is nothing here but the facts.
TERSE = PromptTemplate("{instruction}\n{history}", step="{action}", no_steps="", unreadable="?")

PROMPT_TEMPLATES: dict[str, PromptTemplate] = {
    "compact": TERSE,
    "aitw": PromptTemplate(
        "Previous Actions: {history} Goal: {instruction}", step="{action}", no_steps=""
    ),
    **dict.fromkeys(
        ("qwen2_5_vl", "qwen3_vl"),
        PromptTemplate(
            "The user query: {instruction}\nTask progress (You have done the following operation "
            "on the current device): {history}",
            step="Step {number}: {action}",
            separator=" ; ",
            no_steps="none",
        ),
    ),
}


def prompt_template_for(dialect: str) -> PromptTemplate:
    """The template that goes with a dialect, by its name."""
    return PROMPT_TEMPLATES.get(dialect, PLAIN)


_BLANK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one model call. `screens` has the oldest first and the current one last."""

    system: str
    text: str
    screens: tuple[Screen, ...]


def full_size(screen: Screen) -> ImageSize:
    """The size of a picture that is not resized."""
    return ImageSize(screen.width, screen.height)


class Prompter:
    """Writes prompts. The same observation always gives the same prompt.

    `seen_size` says how large the model sees a screen, for dialects that count in pixels: past
    actions are written with it, and `{width}` and `{height}` in a system text are filled with it.
    """

    def __init__(
        self,
        dialect: Dialect,
        past_actions: int = 4,  # number of past actions in the text; 0 or more
        past_screens: int = 0,  # number of screens before the current one; 0 or more
        *,
        seen_size: Callable[[Screen], ImageSize] = full_size,
        prompt_template: PromptTemplate | None = None,  # None: the one that goes with the dialect
        system: str | None = None,  # None: the instructions of the dialect
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
        shown = steps[-self.past_actions :] if self.past_actions else []
        if not shown:
            return self.prompt_template.no_steps
        return self.prompt_template.separator.join(
            _filled(
                self.prompt_template.step, number=str(number), action=self._written(action, size)
            )
            for number, action in shown
        )

    def _written(self, action: Action, size: ImageSize) -> str:
        """What could not be read may be of any length and hold any token: it is not repeated."""
        if isinstance(action, Unreadable):
            return self.prompt_template.unreadable
        return self.dialect.write(action, size)


def _filled(template: str, **values: str) -> str:
    """All blanks in one pass, so that braces in an instruction stay what they are."""
    return _BLANK.sub(lambda blank: values.get(blank[1], blank[0]), template)
