"""How a model is asked: the words around the instruction and what was done so far, by dialect.

Models were trained with a question of a certain form, and do worse with another. These are the
forms that go with our dialects; what a dialect must be told beside them it says itself
(`Dialect.instructions`). To reproduce a published score to the letter, give the `Prompter` a
`PromptTemplate` and a system text of the publisher's own.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    """The wording that goes with a dialect, by its name."""
    return PROMPT_TEMPLATES.get(dialect, PLAIN)
