"""The prompt of a model: the instruction, the past actions, and the screens.

This is the only place where an observation becomes text. Settings say how much of the past it
contains: past actions as text, in the dialect that the model answers in, and the last few screens.

The text around them is a `PromptTemplate`. Models were trained with prompts of a certain form, and
do worse with another; `PROMPT_TEMPLATES` has the forms for our dialects. A dialect's explanation of
its actions is the system text, `Dialect.instructions`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from distrl.agent.dialects.dialect import Dialect, ImageSize
from distrl.agent.element_list import ElementList
from distrl.agent.letterbox import Letterbox
from distrl.bounds import Bounds, Checked
from distrl.errors import InvalidAction
from distrl.records import Action, Observation, Screen, Unreadable


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """Texts with blanks: `{instruction}` and `{history}` in a question, `{action}` in a step.

    If the model reads elements, they fill the blank `{elements}`, or follow the question.
    """

    question: str
    step: str = "{number}. {action}"
    separator: str = "\n"
    no_steps: str = "nothing yet"
    unreadable: str = "(an answer that could not be read)"


PLAIN = PromptTemplate("Task: {instruction}\n\nDone so far:\n{history}\n\nWhat is the next action?")

# For the starter: the shortest form, since a small model is slowed down by every token.
TERSE = PromptTemplate("{instruction}\n{history}", step="{action}", no_steps="", unreadable="?")

PROMPT_TEMPLATES: dict[str, PromptTemplate] = {
    "compact": TERSE,
    "elements": PromptTemplate(
        "Task: {instruction}\nDone so far:\n{history}\nOn the screen:\n{elements}",
        step="{action}",
        no_steps="nothing",
        unreadable="(unreadable)",
    ),
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


Sees = Literal["screen", "elements", "both"]
ELEMENTS_AFTER = "\n\nOn the screen:\n{elements}"  # for templates without a blank for them
_BLANK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one model call. `screens` has the oldest first and the current one last."""

    system: str
    text: str
    screens: tuple[Screen, ...]
    instruction: str = ""  # for a critic that reads words; the model gets it as part of `text`


def screens_of(prompts: Sequence[Prompt]) -> list[Screen]:
    return [screen for prompt in prompts for screen in prompt.screens]


def full_size(screen: Screen) -> ImageSize:
    """Return the screen's own size, for models that do not resize it."""
    return ImageSize(screen.width, screen.height)


def no_letterbox(_: Screen) -> Letterbox | None:
    """Return None: the screen fills the picture, stretched or not."""
    return None


@dataclass(frozen=True, slots=True)
class Prompter(Checked):
    """Writes prompts and reads answers. The same observation always gives the same prompt.

    `seen_size` gives the size at which the model sees a screen, for dialects that use pixels: past
    actions are written with it. Elements are listed with their numbers and, if the dialect uses
    coordinates, also with their places. Coordinates in prompts and answers are on the picture;
    `letterbox` converts them. Actions passed in and returned are on the screen.
    """

    dialect: Dialect
    past_actions: Annotated[int, Bounds(0, unit="past actions in the text")] = 4
    past_screens: Annotated[int, Bounds(0, unit="screens before the current one")] = 0
    seen_size: Callable[[Screen], ImageSize] = full_size
    letterbox: Callable[[Screen], Letterbox | None] = no_letterbox
    sees: Sees = "screen"

    @property
    def prompt_template(self) -> PromptTemplate:
        return PROMPT_TEMPLATES.get(self.dialect.name, PLAIN)

    def write(self, observation: Observation) -> Prompt:
        question = self.prompt_template.question
        if self.reads_elements and "{elements}" not in question:
            question += ELEMENTS_AFTER
        text = _filled(
            question,
            instruction=observation.instruction,
            history=self._history(observation),
            elements=self._elements(observation),
        )
        screens, task = self._screens(observation), replace_lone_surrogates(observation.instruction)
        return Prompt(
            self.dialect.instructions, replace_lone_surrogates(text.strip()), screens, task
        )

    def read(self, text: str, observation: Observation) -> Action:
        """Parse an answer to this observation's prompt into an action on the screen."""
        size = self.seen_size(observation.screen)
        action = self.dialect.read(text, size, self._listed(observation))
        letterbox = self._letterbox(observation)
        try:
            return action if letterbox is None else letterbox.to_screen(action)
        except InvalidAction as error:
            return Unreadable(text, str(error))

    def answer(self, action: Action, observation: Observation) -> str:
        """Write the answer that stands for this action, for a demonstration."""
        size = self.seen_size(observation.screen)
        seen = self._seen(action, self._letterbox(observation))
        return self.dialect.write(seen, size, self._listed(observation))

    @property
    def reads_elements(self) -> bool:
        return self.sees != "screen"

    def _letterbox(self, observation: Observation) -> Letterbox | None:
        """Return the letterbox to convert coordinates with; None for dialects of element numbers,
        whose places are all on the screen.
        """
        told = self.dialect.numbers and self.reads_elements
        return None if told else self.letterbox(observation.screen)

    def _seen(self, action: Action, letterbox: Letterbox | None) -> Action:
        """Convert an action to the picture, after replacing it by one that the dialect can write:
        that one may have a place where the original has none.
        """
        return action if letterbox is None else letterbox.to_picture(self.dialect.sayable(action))

    def _screens(self, observation: Observation) -> tuple[Screen, ...]:
        if self.sees == "elements":
            return ()
        shown = observation.past_screens[-self.past_screens :] if self.past_screens else ()
        return (*shown, observation.screen)

    def _listed(self, observation: Observation) -> ElementList | None:
        if not self.reads_elements:
            return None
        screen = observation.screen
        return ElementList.of(observation.elements, screen.width, screen.height)

    def _elements(self, observation: Observation) -> str:
        """Return the element list as text, with a point of each if the dialect uses coordinates."""
        listed = self._listed(observation)
        if listed is None:
            return ""
        lines = list(listed.lines())
        if not self.dialect.numbers:
            scale = self.dialect.scale_for(self.seen_size(observation.screen))
            letterbox = self._letterbox(observation)
            for at in range(len(listed.elements)):
                place = listed.place(at + 1)
                place = place if letterbox is None else letterbox.place_in_picture(*place)
                lines[at] += " at {},{}".format(*scale.write(*place))
        return "\n".join(lines)

    def _history(self, observation: Observation) -> str:
        """Return the last actions as text, numbered from the start of the episode."""
        template, size = self.prompt_template, self.seen_size(observation.screen)
        letterbox = self._letterbox(observation)
        touched = (*observation.touched, *[None] * len(observation.past_actions))
        steps = list(enumerate(zip(observation.past_actions, touched, strict=False), start=1))
        told = []
        for number, (action, element) in steps[-self.past_actions :] if self.past_actions else ():
            # An unreadable answer may have any length and contain any token: do not repeat it.
            words = template.unreadable
            if not isinstance(action, Unreadable):
                seen = self._seen(action, letterbox)
                words = self.dialect.write_past(seen, size, element)
            told.append(_filled(template.step, number=str(number), action=words))
        return template.separator.join(told) if told else template.no_steps


def replace_lone_surrogates(text: str) -> str:
    """Replace each by "?": JSON may contain lone surrogates, and tokenizers reject them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _filled(template: str, **values: str) -> str:
    """Fill all blanks in one pass, so that braces in an instruction are left alone."""
    return _BLANK.sub(lambda blank: values.get(blank[1], blank[0]), template)
