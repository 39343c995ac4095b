"""Fuzz targets for what joined collectors send: requests, and observations to decide on.

`fuzz_targets` has the rest; `fuzz_target` says what a target is.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from benchmarks.fuzz_examples import ACTIONS, made_up_heartbeat, made_up_trajectory
from benchmarks.fuzz_target import Target
from distrl.agent.dialects import DIALECTS
from distrl.agent.prompt import Prompter
from distrl.engine.join import join_messages
from distrl.engine.join.decision_wire import Ask, PolicyQuestion, ask_for, observation_in
from distrl.engine.join.join_messages import PROTOCOL, Deliveries, JoinHeartbeat, JoinRequest
from distrl.engine.serving.decision_messages import PackedDecision, decision_of, packed_decision
from distrl.hierarchy import Element
from distrl.records import Decision, Observation, Screen
from distrl.replay.trajectory_encoding import encode_trajectory

BUTTON = Element("button", "OK", (10, 20, 90, 60), "of the dialog", clickable=True)


def join_targets() -> list[Target]:
    requests: dict[str, tuple[object, ...]] = {
        "join-request": (JoinRequest(PROTOCOL, "a" * 32, "0" * 32, "attic", 4),),
        "join-heartbeat": (JoinHeartbeat(3, made_up_heartbeat()), JoinHeartbeat(0)),
        "join-deliveries": (Deliveries((encode_trajectory(made_up_trajectory()), b"none")),),
        "join-policy": (PolicyQuestion(("c/1",), ((540, 960),)),),
    }

    def reader(kind: type[object]) -> Callable[[bytes], object]:
        return lambda data: join_messages.unpack(data, kind)

    return [
        *(
            Target(name, [join_messages.pack(each) for each in sent], reader(type(sent[0])))
            for name, sent in requests.items()
        ),
        *decision_targets(),
    ]


def decision_targets() -> list[Target]:
    """Return targets for requests (also as JSON, to mutate whole values) and for answers."""
    rng = np.random.default_rng(0)
    screens = [Screen(rng.integers(0, 256, (24, 16, 3), dtype=np.uint8)) for _ in range(2)]
    observation = Observation(
        "Do it", screens[1], ACTIONS, (screens[0],), (BUTTON,), (None, BUTTON, *[None] * 5)
    )
    ask = ask_for(1, "c/1", observation)
    decisions = [Decision(each, "text", (1, 2), (-0.5, -0.25), 3) for each in ACTIONS]
    answers = [packed_decision(number, each) for number, each in enumerate(decisions)]
    prompters = [Prompter(each, past_screens=1) for each in DIALECTS.values()]

    def decide(asked: Ask) -> object:
        """Do all that the policy process does before its model: an error here would end it."""
        seen = observation_in(asked)
        return [each.write(seen).text.encode() for each in prompters]

    def as_json(data: bytes) -> Ask:
        try:
            return msgspec.json.decode(data, type=Ask)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return ask

    return [
        Target("join-ask", [join_messages.pack(ask)],
               lambda data: decide(join_messages.unpack(data, Ask)), share=0.3),
        Target("join-ask-values", [msgspec.json.encode(ask)],
               lambda data: decide(as_json(data)), share=0.3),
        Target("join-decision", [join_messages.pack(each) for each in answers],
               lambda data: decision_of(join_messages.unpack(data, PackedDecision))),
    ]  # fmt: skip
