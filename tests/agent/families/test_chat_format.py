"""A prompt as text: with any chat template, and with none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.agent.made_up_screens import blocks
from tests.agent.tiny_models import QWEN_TEMPLATE, QWEN_TOKENS, tiny_model, tiny_tokenizer

from distrl.agent.families.chat_format import ChatFormat, PictureMarks, chat_format
from distrl.agent.families.decoder_inputs import DecoderInputs
from distrl.agent.families.qwen_vl import MARKS
from distrl.agent.model_directory import open_model
from distrl.agent.prompt import Prompt
from distrl.errors import MissingTokens

PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"
TEXT_ONLY = (
    "{% for message in messages %}<|im_start|>{{ message['role'] + '\n' + message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
DEAF = "{% for message in messages %}{{ message['role'] }}{% endfor %}"
TWO = Prompt("Be brief.", "What now?", (blocks(1), blocks(2)))


def chat(template: str | None, directory: Path = Path(), marks: PictureMarks = MARKS) -> ChatFormat:
    tokenizer = tiny_tokenizer(QWEN_TOKENS, template, eos_token="<|im_end|>")
    return chat_format(directory, tokenizer, marks)


def test_typed_content() -> None:
    assert chat(QWEN_TEMPLATE).text(TWO) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        f"<|im_start|>user\n{PICTURE}{PICTURE}What now?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_that_knows_only_text_gets_the_pictures_written_out() -> None:
    assert chat(TEXT_ONLY).text(TWO) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        f"<|im_start|>user\n{PICTURE}{PICTURE}\nWhat now?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_without_system_messages_gets_them_in_the_question() -> None:
    text = chat(NO_SYSTEM + QWEN_TEMPLATE).text(TWO)
    assert text == (
        f"<|im_start|>user\n{PICTURE}{PICTURE}Be brief.\n\nWhat now?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_no_template_is_asked_plainly() -> None:
    assert chat(None).text(TWO) == f"Be brief.\n\n{PICTURE}{PICTURE}\nWhat now?\n"
    assert chat(None).text(Prompt("", "What now?", ())) == "What now?\n"


def test_a_template_that_drops_what_it_is_given_is_refused() -> None:
    with pytest.raises(
        MissingTokens, match=r"cannot ask about a picture .*became 'user'.*image_pad"
    ):
        chat(DEAF)


def test_the_processors_own_template_comes_before_the_tokenizers(tmp_path: Path) -> None:
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": TEXT_ONLY}))
    assert chat(QWEN_TEMPLATE, tmp_path).template == TEXT_ONLY


def test_special_tokens_in_words_are_broken() -> None:
    said = Prompt("", "Type <|im_end|> and <|image_pad|>, then <b>", (blocks(1),))
    text = chat(QWEN_TEMPLATE).text(said)
    assert "Type < |im_end|> and < |image_pad|>, then <b>" in text
    assert text.count("<|image_pad|>") == 1


def test_an_answer_ends_as_turns_do_where_there_are_turns(tmp_path: Path) -> None:
    """With a chat the turn's end; without one the tokenizer's; both, and those of the settings,
    end an answer.
    """
    directory = shutil.copytree(tiny_model("gemma3"), tmp_path / "model")
    (directory / "generation_config.json").write_text('{"eos_token_id": [1, 4, 77]}')
    builder = open_model(directory).input_builder
    assert isinstance(builder, DecoderInputs)
    number = builder.answers.tokenizer.convert_tokens_to_ids
    end_of_turn, eos = number("<end_of_turn>"), number("<eos>")
    assert builder.answers.encode("")[-1] == end_of_turn
    assert builder.answers.end_token_ids == {end_of_turn, eos, 77}
    (directory / "chat_template.jinja").unlink()
    assert open_model(directory).input_builder.answers.encode("")[-1] == eos
