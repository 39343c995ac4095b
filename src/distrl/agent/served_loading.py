"""Opens a policy by its model's name, with the model on a server: for collectors in a run."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from distrl.agent.dialects import dialect_named
from distrl.agent.families.language import LANGUAGE
from distrl.agent.loading import model_path
from distrl.agent.model_directory import (
    checked_sees,
    known_family,
    local_directory,
    open_inputs,
)
from distrl.agent.prompt import Prompter, Sees
from distrl.agent.served_adapters import ServedAdapters
from distrl.agent.served_policy import ServedPolicy, ServedSampling
from distrl.agent.vlm_settings import VlmSettings
from distrl.chat.chat_server import ChatServer, ServerSettings
from distrl.errors import InvalidSetting


def open_served(
    model: str | Path,
    settings: VlmSettings,
    url: str,
    folder: Path,
    *,
    dialect: str = "",
    sees: Sees | None = None,
) -> ServedPolicy:
    """Open the policy of `open_policy` with its model on a server; adapters go there via `folder`.

    Log-probabilities are assumed to be those of sampling; `served_gap` checks this.
    """
    directory = local_directory(model_path(model))
    family, sampling = known_family(directory), settings.sampling
    if family is LANGUAGE and sees == "both":
        raise InvalidSetting(
            "agent.sees='both' with agent.server: the screen projector of a language model is "
            "ours, and no server has it; give agent.sees=elements, or leave agent.server out"
        )
    prompter = Prompter(
        dialect_named(dialect or family.dialect),
        family.past_actions if settings.past_actions is None else settings.past_actions,
        settings.past_screens,
        seen_size=open_inputs(directory).seen_size,
        sees=checked_sees(family, sees),
    )
    assert settings.lora is not None  # validated before: a served model needs adapters
    with ExitStack() as on_failure:
        server = on_failure.enter_context(ChatServer.open(ServerSettings(url)))
        adapters = ServedAdapters(server, folder, settings.lora)
        on_failure.pop_all()
    answers = ServedSampling(sampling.temperature, sampling.max_new_tokens, "processed")
    return ServedPolicy(server, prompter, answers, adapters=adapters)
