"""A policy behind an HTTP server: what is asked, and what becomes of the answer."""

from __future__ import annotations

import base64
import io
import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from tests.agent.served_policies import FINE, observation, policy_at, screen
from tests.chat.chat_protocol import (
    Asked,
    Reply,
    completion,
    picture_urls_in,
    serving,
    texts_in,
)

from distrl.agent.dialects.compact import COMPACT
from distrl.agent.dialects.dialect import ImageSize, Scale
from distrl.agent.prompt import Prompter
from distrl.agent.served_policy import ServedSampling, in_patches, version_in_name
from distrl.errors import (
    InvalidSetting,
    UnusableAnswer,
)
from distrl.records import Action, Screen, Tap, Unreadable


def picture_in(url: str) -> Image.Image:
    head, _, data = url.partition(",")
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


# What is asked and what comes back ---------------------------------------------------------------


def test_a_decision_has_the_servers_tokens_log_probs_and_action() -> None:
    with serving(FINE) as (url, _), policy_at(url) as policy:
        [decision] = policy.decide([observation()])
    assert decision.action == Tap(17.5 / 36, 40.5 / 72)
    assert decision.text == "<tap><17,40>"
    assert decision.token_ids == (5, 6, 2)
    assert decision.log_probs == (-0.25, -1.5, 0.0)


def test_an_answer_that_no_dialect_reads_is_an_action_of_its_own_with_its_tokens() -> None:
    with serving(Reply(completion("I would rather not"))) as (url, _), policy_at(url) as policy:
        [decision] = policy.decide([observation()])
    assert isinstance(decision.action, Unreadable)
    assert decision.token_ids == (5, 6, 2)


def test_the_request_samples_from_the_models_own_distribution() -> None:
    sampling = ServedSampling(temperature=1.0, answer_tokens=40)
    with serving(FINE) as (url, log), policy_at(url, sampling) as policy:
        policy.decide([observation()])
    [asked] = log.completions
    del asked["messages"]
    assert asked == {
        "model": "policy",
        "max_tokens": 40,
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": -1,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "n": 1,
        "stream": False,
        "logprobs": True,
        "return_token_ids": True,
    }


def test_greedy_is_temperature_zero() -> None:
    with (
        serving(FINE) as (url, log),
        policy_at(url, ServedSampling(temperature=None)) as policy,
    ):
        policy.decide([observation()])
    assert log.completions[0]["temperature"] == 0.0


def test_the_prompt_and_the_exact_pixels_travel() -> None:
    with (
        serving(FINE) as (url, log),
        policy_at(url, prompter=Prompter(COMPACT, past_screens=1)) as policy,
    ):
        policy.decide([observation("Say “hi” to Žofie")])
    [asked] = log.completions
    [text] = texts_in(asked)
    assert "Say “hi” to Žofie" in text
    old, new = [picture_in(url) for url in picture_urls_in(asked)]
    assert np.array_equal(np.asarray(old), screen(99).pixels)
    assert np.array_equal(np.asarray(new), screen(0).pixels)


def test_a_picture_is_sent_in_the_size_that_the_dialect_counts_in() -> None:
    seen: list[Scale] = []

    def watching(text: str, scale: Scale) -> Action:
        seen.append(scale)
        return COMPACT.reader(text, scale)

    dialect = replace(COMPACT, reader=watching)
    prompter = Prompter(dialect, seen_size=lambda screen: ImageSize(28, 56))
    with serving(FINE) as (url, log), policy_at(url, prompter=prompter) as policy:
        policy.decide([observation()])
    assert picture_in(picture_urls_in(log.completions[0])[0]).size == (28, 56)
    assert seen == [Scale(28, 56)]


def test_a_batch_is_asked_at_once_and_answered_in_order() -> None:
    everybody = threading.Barrier(6)

    def echo(asked: Asked) -> bytes:
        everybody.wait(60.0)  # only six requests at once get through
        [text] = texts_in(asked)
        number = text.split()[0].removeprefix("task")
        return completion(f"<answer>{number}", token_ids=[int(number)], log_probs=(-1.0,))

    with serving(Reply(echo)) as (url, log), policy_at(url) as policy:
        decisions = policy.decide([observation(f"task{number}", number) for number in range(6)])
    assert [decision.text for decision in decisions] == [f"<answer>{n}" for n in range(6)]
    assert [decision.token_ids for decision in decisions] == [(n,) for n in range(6)]
    assert log.max_at_once == 6


def test_no_more_than_so_many_requests_at_once() -> None:
    with serving(FINE) as (url, log), policy_at(url, concurrency=2) as policy:
        assert len(policy.decide([observation(seed=number) for number in range(8)])) == 8
    assert log.max_at_once <= 2


# Which weights answered --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (completion(metadata={"weight_version": "12"}), 12),
        (completion(metadata={"weight_version": 7}, model="policy-v3"), 7),
        (completion(metadata={"weight_version": "default"}, model="policy-v3"), 3),
        (completion(model="org/policy@v41"), 41),
        (completion(model="Qwen2.5-VL-7B"), 0),
    ],
)
def test_the_weight_version_is_the_one_that_the_answer_states(body: bytes, version: int) -> None:
    with serving(Reply(body)) as (url, _), policy_at(url) as policy:
        assert policy.decide([observation()])[0].weight_version == version


def test_without_a_name_the_newest_model_is_asked_and_found_again() -> None:
    models = ["base", "policy-v9", "policy-v10"]
    with serving(FINE, models=models) as (url, log), policy_at(url, model="") as policy:
        policy.decide([observation()])
        models.append("policy-v11")
        policy.decide([observation()])
        assert policy.refresh() == "policy-v11"
        policy.decide([observation()])
    assert [asked["model"] for asked in log.completions] == [
        "policy-v10",
        "policy-v10",
        "policy-v11",
    ]


def test_a_server_without_models_is_an_unusable_answer() -> None:
    with (
        serving(FINE, models=()) as (url, _),
        policy_at(url, model="") as policy,
        pytest.raises(UnusableAnswer, match="lists no model"),
    ):
        policy.decide([observation()])


@pytest.mark.parametrize(("name", "version"), [("a-v2", 2), ("v2", 0), ("a-v2b", 0), (None, 0)])
def test_a_version_in_a_name(name: object, version: int) -> None:
    assert version_in_name(name) == version


# What cannot be right is refused -----------------------------------------------------------------


def test_a_temperature_without_processed_log_probs_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="--logprobs-mode processed_logprobs"):
        ServedSampling(temperature=0.7)
    ServedSampling(temperature=0.7, log_probs="processed")
    ServedSampling(temperature=0.7, require_tokens=False)
    ServedSampling(temperature=None)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_a_temperature_that_is_none_is_refused(temperature: float) -> None:
    with pytest.raises(InvalidSetting):
        ServedSampling(temperature=temperature, log_probs="processed")


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (completion(token_ids=None), "without token ids"),
        (completion(token_ids=[]), "without token ids"),
        (completion(token_ids="5 6 2"), "without token ids"),
        (completion(token_ids=[5, "6", 2]), "no numbers"),
        (completion(token_ids=[5, 6]), "2 token ids with 3 log-probabilities"),
        (completion(log_probs=None), "3 token ids with 0 log-probabilities"),
        (completion(log_probs=(-0.1, None, -0.1)), "no number: None"),
        (completion(log_probs=(-0.1, float("-inf"), -0.1)), "no number: -inf"),
        (completion(log_probs=(-0.1, 0.5, -0.1)), "above 0"),
        (json.dumps({"choices": []}).encode(), "without choices"),
        (json.dumps({"object": "error"}).encode(), "without choices"),
        (json.dumps({"choices": [{"message": "hi"}]}).encode(), "without choices"),
    ],
)
def test_an_answer_that_a_learner_cannot_use_is_an_error_at_once(body: bytes, wrong: str) -> None:
    with (
        serving(Reply(body)) as (url, log),
        policy_at(url) as policy,
        pytest.raises(UnusableAnswer, match=wrong),
    ):
        policy.decide([observation()])
    assert len(log.completions) == 1


def test_evaluation_alone_needs_no_tokens() -> None:
    bare = Reply(completion(token_ids=None, log_probs=None))
    sampling = ServedSampling(temperature=0.5, require_tokens=False)
    with serving(bare) as (url, _), policy_at(url, sampling) as policy:
        [decision] = policy.decide([observation()])
    assert isinstance(decision.action, Tap)
    assert decision.token_ids == decision.log_probs == ()


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [(360, 720, (364, 728)), (1080, 2400, (1092, 2408)), (28, 56, (28, 56)), (3, 3, (28, 28))],
)
def test_sizes_in_whole_patches(width: int, height: int, size: tuple[int, int]) -> None:
    assert in_patches(Screen(np.zeros((height, width, 3), np.uint8))) == size
