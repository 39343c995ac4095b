"""What a collector encoded to decide is what its learner trains on, without encoding it again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from tests.agent.made_up_screens import blocks
from tests.agent.starter.tiny_starter import starter_directory
from tests.agent.vlm_policies import tiny_policy
from tests.engine.local.test_policy_connection import listening

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.loading import open_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.engine.ingest.messages import Encodings, from_bytes, to_bytes
from distrl.engine.local.policy_connection import find_policy_process
from distrl.engine.local.shared_encodings import EncodingSender, encoding_receiver
from distrl.engine.serving.policy_client import PolicyClient
from distrl.records import Observation
from distrl.replay.compressed_screen import CompressedScreen, compress

SCREENS = [blocks(number, 360, 720) for number in range(4)]
SEEN = [Observation(f"Go {number}", screen, ()) for number, screen in enumerate(SCREENS)]
STORED = [Observation(each.instruction, compress(each.screen), ()) for each in SEEN]


def starter(cache_megabytes: int = 16) -> VlmPolicy:
    sampling = SamplingSettings(max_new_tokens=8)
    settings = VlmSettings(sampling=sampling, cache_megabytes=cache_megabytes)
    return open_policy(starter_directory(), settings)


def test_the_learner_encodes_nothing_that_a_collector_has_sent() -> None:
    acting, learning, plain = starter(), starter(), starter(0)
    receive = encoding_receiver(learning)
    assert receive is not None
    acting.share = EncodingSender(lambda message: receive(over_the_wire(message)), wanted=True)
    decisions = acting.decide(SEEN[:2]) + acting.decide(SEEN[2:])
    answers = [decision.token_ids for decision in decisions]
    with torch.no_grad():
        found = learning.score(STORED, answers)
        wanted = plain.score(STORED, answers)
    assert (learning.encodings.found, learning.encodings.encoded) == (4, 0)
    torch.testing.assert_close(found.log_probs, wanted.log_probs, atol=1e-5, rtol=0)
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs)
        torch.testing.assert_close(found.log_probs[row, : len(sampled)], sampled, atol=1e-5, rtol=0)


def over_the_wire(message: Encodings) -> Encodings:
    arrived = from_bytes(to_bytes(message))
    assert isinstance(arrived, Encodings)
    return arrived


def test_nothing_is_sent_before_it_is_wanted() -> None:
    sent: list[Encodings] = []
    acting = starter()
    acting.share = EncodingSender(sent.append)
    acting.decide(SEEN[:1])
    assert sent == []
    acting.share = EncodingSender(sent.append, wanted=True)
    acting.decide(SEEN[:3])
    assert [len(each.keys) for each in sent] == [3]


def test_a_policy_process_decides_bit_for_bit_as_a_policy_of_the_collector_s_own(
    tmp_path: Path,
) -> None:
    """Screens come to it packed, under names that nobody else would give them."""
    sent: list[Encodings] = []
    own, serving = starter(), starter()
    serving.share = EncodingSender(sent.append, wanted=True)
    client = PolicyClient("collector-0.1", partial(find_policy_process, tmp_path))
    with listening(tmp_path, serving):
        served = [client.ask(client.enter(), renamed(each)) for each in STORED]
    assert served == [decision for each in SEEN for decision in own.decide([each])]
    assert all(decision.log_probs for decision in served)
    assert [each.keys[0][-1] for each in sent] == [each.instruction for each in STORED]


def renamed(seen: Observation) -> Observation:
    screen = compress(seen.screen)
    named = CompressedScreen(screen.packed, screen.height, screen.width, seen.instruction)
    return replace(seen, screen=named)


def test_sharing_changes_no_decision() -> None:
    plain, sharing = starter(), starter()
    sharing.share = EncodingSender(lambda message: None, wanted=True)
    assert sharing.decide(SEEN) == plain.decide(SEEN)


def test_a_model_that_reads_prompts_with_what_it_learns_has_no_use_for_them() -> None:
    assert encoding_receiver(tiny_policy("qwen3_vl", past_screens=0)) is None
    assert encoding_receiver(starter(0)) is None
