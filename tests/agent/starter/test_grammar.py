"""What the starter may say can be read, and all that the dialect writes may be said."""

from __future__ import annotations

import pytest
import torch
from tests.agent.starter.tiny_starter import padded, screens, tiny_starter

from distrl import records as r
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.starter.grammar import FORBIDDEN, LONGEST, first_word_rows, next_tokens
from distrl.agent.starter.vocabulary import END, START, build_tokenizer, tokens

CPU = torch.device("cpu")
IMAGE = ImageSize(360, 720)
ACTIONS = (
    r.Tap(0.2, 0.9),
    r.LongPress(0.5, 0.5),
    r.Swipe(0.5, 0.8, 0.5, 0.2),
    r.Swipe(0.5, 0.8, 0.5, 0.2, 0.8),
    r.TypeText("Grüße, 3 × 東京"),
    r.TypeText(""),
    r.OpenApp("Clock"),
    r.Answer("5.50 €"),
    r.Wait(),
    r.Wait(5),
    r.Wait(0.5),
    r.Back(),
    r.Home(),
    r.Enter(),
    r.Done(),
    r.Impossible(),
)


def numbers_of(text: str) -> list[int]:
    found: list[int] = build_tokenizer()(text, add_special_tokens=False)["input_ids"]
    return [*found, tokens().index(END)]


def allowed_after(answer: list[int]) -> torch.Tensor:  # [vocabulary]
    first = first_word_rows(torch.tensor(answer[0] if answer else 0))
    return next_tokens(CPU)[first, min(len(answer), LONGEST - 1)]


@pytest.mark.parametrize("action", ACTIONS, ids=repr)
def test_what_the_dialect_writes_may_be_said(action: r.Action) -> None:
    answer = numbers_of(COMPACT.write(action, IMAGE))
    for place, token in enumerate(answer):
        assert allowed_after(answer[:place])[token], tokens()[token]


@pytest.mark.seeds(8, 40)
def test_what_may_be_said_can_be_read(seed: int) -> None:
    rng, answer, end = torch.Generator().manual_seed(seed), list[int](), tokens().index(END)
    while not answer or answer[-1] != end:
        choices = allowed_after(answer).nonzero().flatten()
        if len(answer) > 6 and end in choices:
            choices = torch.tensor([end])
        answer.append(int(choices[torch.randint(len(choices), (1,), generator=rng)]))
    said = str(build_tokenizer().decode(answer[:-1]))
    if not said.startswith("<wait>"):  # of which some numbers are too long to wait for
        COMPACT.read(said, IMAGE)


@pytest.mark.parametrize("said", ["<tap>.", "<17,40>", "<swipe><1,1>.", "<back>x", "<wait>soon"])
def test_what_cannot_be_read_is_next_to_impossible(said: str) -> None:
    model = tiny_starter()
    encoded = model.encoder(padded(["Go there"]), None, screens(1))
    answer = [tokens().index(START), *numbers_of(said)]
    logits = model.decode(encoded, torch.tensor([answer])).logits
    assert logits is not None
    log_probs = logits.log_softmax(-1)[0, range(len(answer) - 1), answer[1:]]
    assert log_probs.min() < FORBIDDEN / 2
    assert torch.isfinite(log_probs).all()
