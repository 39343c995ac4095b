"""One attempt at one task: look, decide, act, until it ends; then the verdict.

Every episode gets exactly one typed ending. A device that fails ends the episode as such: what was
done and seen up to the last good screen is kept, and no verdict is made up. If the device fails
before there is a first screen, there is no episode, and its error is raised.
"""

from __future__ import annotations

from distrl.agent.policy import Policy
from distrl.devices.device import Device
from distrl.errors import AppCrashed, DeviceError, JudgeError
from distrl.records import (
    FINAL_ACTIONS,
    Answer,
    Decision,
    Ending,
    Impossible,
    Observation,
    Screen,
    Task,
    Trajectory,
    Verdict,
)
from distrl.tasks.judge import Judge


def run_episode(
    task: Task,
    device: Device,
    policy: Policy,
    judge: Judge,
    *,
    episode_id: str = "",
    stop_on_success: bool = False,
) -> Trajectory:
    """Let a policy try a task on a device.

    The agent ends the episode by saying so, as a person would; with `stop_on_success` the judge is
    asked after every step and ends it as soon as the task is done.
    """
    device.reset(task.seed)
    judge.begin(task)
    screens = [device.screen()]
    decisions: list[Decision] = []
    fault: DeviceError | None = None
    while len(decisions) < task.step_limit:
        past_actions = tuple(decision.action for decision in decisions)
        [decision] = policy.decide([Observation(task.instruction, screens[-1], past_actions)])
        try:
            screens.append(device.perform(decision.action))
        except DeviceError as error:
            fault = error
            break
        decisions.append(decision)
        if isinstance(decision.action, FINAL_ACTIONS):
            break
        if stop_on_success and judge.verdict(None).success:
            break
    ending, verdict, notes = _end(judge, decisions, fault, stop_on_success)
    return _sealed(episode_id or task.id, task, decisions, screens, ending, verdict, device, notes)


def _end(
    judge: Judge, decisions: list[Decision], fault: DeviceError | None, stop_on_success: bool
) -> tuple[Ending, Verdict | None, tuple[str, ...]]:
    """How it ended, who says so, and what else is worth knowing."""
    if fault is not None:
        lost = Ending.APP_CRASH if isinstance(fault, AppCrashed) else Ending.DEVICE_LOST
        return lost, None, (f"{type(fault).__name__}: {fault}",)
    last = decisions[-1].action if decisions else None
    try:
        verdict = judge.verdict(last.text if isinstance(last, Answer) else None)
    except JudgeError as error:
        return Ending.JUDGE_UNAVAILABLE, None, (str(error),)
    if isinstance(last, Impossible):
        return Ending.GAVE_UP, verdict, ()
    if isinstance(last, FINAL_ACTIONS) or (stop_on_success and verdict.success):
        return (Ending.SUCCESS if verdict.success else Ending.FAILURE), verdict, ()
    return Ending.STEP_LIMIT, verdict, ()


def _sealed(
    episode_id: str,
    task: Task,
    decisions: list[Decision],
    screens: list[Screen],
    ending: Ending,
    verdict: Verdict | None,
    device: Device,
    notes: tuple[str, ...],
) -> Trajectory:
    return Trajectory(
        id=episode_id,
        task=task,
        decisions=tuple(decisions),
        screens=tuple(screens),
        ending=ending,
        verdict=verdict,
        device_seconds=device.seconds,
        notes=notes,
    )
