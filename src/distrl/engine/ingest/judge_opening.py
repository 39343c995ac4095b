"""From settings to a judge of whole trajectories, opened: for a run, and for `distrl rescore`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from distrl.config.judge_section import JudgeSettings
from distrl.errors import NotInstalled
from distrl.judging.judge import TrajectoryJudge
from distrl.judging.judge_agreement import SecondOpinion
from distrl.judging.judge_prompt import BUILT_IN, JudgePrompt, read_examples
from distrl.judging.rate_budget import BudgetSettings


def open_judge(settings: JudgeSettings, cache: Path, opened: ExitStack) -> TrajectoryJudge:
    """The judge, with a second one beside it where that is wanted; `opened` closes both."""
    examples = read_examples(Path(settings.examples)) if settings.examples else BUILT_IN
    prompt = JudgePrompt(examples, last_screens=settings.last_screens)
    first = _open_one(settings, settings.server, settings.model, prompt, cache, opened)
    if not settings.second_model:
        return first
    server = settings.second_server or settings.server
    second = _open_one(settings, server, settings.second_model, prompt, cache, opened)
    return SecondOpinion(first, second, settings.second_share)


def _open_one(
    settings: JudgeSettings,
    server: str,
    model: str,
    prompt: JudgePrompt,
    cache: Path,
    opened: ExitStack,
) -> TrajectoryJudge:
    try:
        from distrl.chat.chat_server import ServerSettings
        from distrl.judging.vlm_judge import KEY_VARIABLE, VlmJudge, VlmJudgeSettings
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; a judge on a server needs "
            "pip install 'distrl[served]'"
        ) from error
    asked = VlmJudgeSettings(
        ServerSettings(
            server,
            key_variable=KEY_VARIABLE,
            deadline_s=settings.deadline_seconds,
            tries=settings.tries,
        ),
        model,
        prompt_price=settings.prompt_price,
        answer_price=settings.answer_price,
        budget=BudgetSettings(settings.requests_per_minute, settings.burst, settings.max_cost),
    )
    return opened.enter_context(VlmJudge.open(asked, prompt, cache))


def words_on_second(judge: TrajectoryJudge) -> str:
    """How often a second judge disagreed; empty where none was asked."""
    if not isinstance(judge, SecondOpinion) or not judge.opinions.total:
        return ""
    return (
        f"a second judge disagreed on {judge.disagreement:.1%} of {judge.opinions.total} "
        f"(could not be asked: {judge.missing})"
    )
