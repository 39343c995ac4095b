"""What a collector encoded to decide is what its learner trains on, without encoding it again."""

from __future__ import annotations

import torch
from tests.agent.made_up_screens import blocks
from tests.agent.starter.tiny_starter import starter_directory
from tests.agent.vlm_policies import tiny_policy

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.loading import open_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.engine.ingest.messages import Encodings, from_bytes, to_bytes
from distrl.engine.local.shared_encodings import EncodingSender, encoding_receiver
from distrl.records import Observation
from distrl.replay.compressed_screen import compress

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


def test_sharing_changes_no_decision() -> None:
    plain, sharing = starter(), starter()
    sharing.share = EncodingSender(lambda message: None, wanted=True)
    assert sharing.decide(SEEN) == plain.decide(SEEN)


def test_a_model_that_reads_prompts_with_what_it_learns_has_no_use_for_them() -> None:
    assert encoding_receiver(tiny_policy("qwen3_vl", past_screens=0)) is None
    assert encoding_receiver(starter(0)) is None
