"""Renders a prompt as text in the chat format that a model was trained on.

The model's own chat template is used if it has one. Templates differ: some take pictures as typed
content and some only text, some have no system message. What a template accepts is probed once,
when the model is opened; without a template the prompt is written plainly.

Text of users and screens goes into the prompt as words only: a special token in it is broken up by
a space, so that no note can end a turn or insert an image token without a picture.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from distrl.agent.prompt import Prompt
from distrl.errors import MissingTokens

SYSTEM_PROBE, USER_PROBE = "Be brief.", "What now?"


@dataclass(frozen=True, slots=True)
class PictureMarks:
    """The tokens that a family uses for pictures and turns; in a prompt's text they are broken up.

    `placeholder` is what a chat template writes for a picture until its image tokens are filled in;
    `plain` is what we write for a picture without typed content, and contains the placeholder.
    `image` is the image token, repeated for every piece of a picture; it and `needed` must be in
    the tokenizer.
    """

    image: str
    placeholder: str
    plain: str
    needed: tuple[str, ...]
    turn_end: str


NO_MARKS = PictureMarks("", "", "", (), "")  # for models without image input


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """Renders prompts; `typed_content` and `system_message` say what the template accepts."""

    tokenizer: PreTrainedTokenizerBase
    template: str | None
    marks: PictureMarks
    special_tokens: re.Pattern[str]
    typed_content: bool = False
    system_message: bool = True

    def text(self, prompt: Prompt) -> str:
        """Return the prompt's text, with a placeholder for each of its screens."""
        system = self.special_tokens.sub(_broken, prompt.system)
        words = self.special_tokens.sub(_broken, prompt.text)
        return self.written(system, words, len(prompt.screens))

    def written(self, system: str, words: str, pictures: int) -> str:
        if self.template is None:
            asked = f"{system}\n\n" if system else ""
            return f"{asked}{self._inline(words, pictures)}\n"
        messages: list[dict[str, Any]] = []
        if system and self.system_message:
            messages.append({"role": "system", "content": self._content(system, 0)})
        elif system:
            words = f"{system}\n\n{words}"
        messages.append({"role": "user", "content": self._content(words, pictures)})
        rendered = self.tokenizer.apply_chat_template(
            messages, chat_template=self.template, tokenize=False, add_generation_prompt=True
        )
        return str(rendered)

    def _content(self, words: str, pictures: int) -> str | list[dict[str, str]]:
        if self.typed_content:
            return [*[{"type": "image"}] * pictures, {"type": "text", "text": words}]
        return self._inline(words, pictures)

    def _inline(self, words: str, pictures: int) -> str:
        return f"{self.marks.plain * pictures}\n{words}" if pictures else words


def chat_format(
    directory: Path, tokenizer: PreTrainedTokenizerBase, marks: PictureMarks
) -> ChatFormat:
    """Probe which chat format the model in `directory` accepts; raise `MissingTokens` if none."""
    template = tokenizer.chat_template
    if isinstance(template, dict):  # a tokenizer may have several; "default" is for plain chat
        template = template.get("default")
    file = directory / "chat_template.json"  # where processors of older models keep it
    kept = json.loads(file.read_text("utf-8")).get("chat_template") if file.is_file() else None
    template = kept if isinstance(kept, str) and kept else template
    plain = ChatFormat(tokenizer, template or None, marks, special_tokens(tokenizer, marks))
    if plain.template is None:
        return plain
    problem = ""
    seen = 2 if marks.placeholder else 0
    for typed, system in ((True, True), (True, False), (False, True), (False, False)):
        if typed and not seen:  # a text-only template would print the list of content parts
            continue
        chat = replace(plain, typed_content=typed, system_message=system)
        try:
            text = chat.written(SYSTEM_PROBE, USER_PROBE, seen)
        except (TemplateError, TypeError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
            continue
        found = text.count(marks.placeholder) if seen else 0
        if (found, SYSTEM_PROBE in text, USER_PROBE in text) == (seen, 1, 1):
            return chat
        problem = f"{seen} pictures and two texts became {text[:200]!r}"
    raise MissingTokens(
        f"the chat template in {directory} cannot ask {'about a picture ' if seen else ''}"
        f"({problem}); take the template of the model that this one was made from"
        f"{f': one that writes {marks.placeholder!r}' if seen else ''}"
    )


def special_tokens(tokenizer: PreTrainedTokenizerBase, marks: PictureMarks) -> re.Pattern[str]:
    """Return a pattern of all tokens that the tokenizer, or our code, treats as special."""
    added = {each.content for each in tokenizer.added_tokens_decoder.values() if each.special}
    tokens = {marks.image, marks.placeholder, *marks.needed} | added
    longest_first = sorted(filter(None, tokens), key=lambda token: (-len(token), token))
    return re.compile("|".join(re.escape(token) for token in longest_first))


def _broken(token: re.Match[str]) -> str:
    return f"{token[0][0]} {token[0][1:]}"
