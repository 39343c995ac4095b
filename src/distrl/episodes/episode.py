"""One attempt at one task: observe, decide, act, until it ends; then the verdict.

Every episode gets exactly one typed ending. A device fault ends the episode with its own ending:
actions and screens up to the last good one are kept, and there is no verdict. An action that the
phone cannot perform does not end it: the screen stays, and a note says why. If the device fails
before the first screen, there is no episode, and the error is raised.

If the device is `Forkable`, an episode can be continued again from one of its steps (`forks`): with
the same beginning, another continuation, and its own verdict. The step is drawn at random, seeded
by the episode id alone: if it depended on the answers, the parent's own continuation would be a
biased sample.

`Episode` takes one decision at a time, for callers that play many at once (`Collector`);
`run_episode` plays one with one device and one policy; `EpisodeBatch` plays many in lockstep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from typing import Any, Generic, Literal, Self, TypeVar

from distrl.agent.policy import Policy, reads_elements
from distrl.devices.device import Device, Forkable
from distrl.episodes.stage_timer import StageTimer
from distrl.errors import (
    ActionFailed,
    AppCrashed,
    DeviceError,
    DryRun,
    JudgeError,
    ScreenRestless,
)
from distrl.hierarchy import Elements, readable
from distrl.judging.judge import NOBODY, EndsEpisode, Judge, KnowsUser
from distrl.records import (
    FINAL_ACTIONS,
    ONLY_SAID,
    Answer,
    AskUser,
    Branch,
    Decision,
    Ending,
    Impossible,
    Observation,
    Screen,
    Task,
    Trajectory,
    Verdict,
    observation_after,
)
from distrl.replay.compressed_screen import compress

Work = Literal["reset", "begin", "act", "pack"]
WORKS: tuple[Work, ...] = ("reset", "begin", "act", "pack")
DEVICE_WORKS: tuple[Work, ...] = ("reset", "act")  # work of the device itself
T = TypeVar("T")
D = TypeVar("D")


@dataclass(slots=True)
class Episode:
    """An attempt in progress. `begin` it, `take` decisions on its `observation` until it `ended`.

    The agent ends it by a final action; with `stop_on_success` the judge is asked after every step
    and ends it as soon as the task is done. A judge that `EndsEpisode` ends it with the verdict at
    that time. Screens are compressed on arrival: a phone that waits for a decision holds no pixels,
    and no later stage has to compress them again.
    """

    task: Task
    id: str
    stop_on_success: bool
    _device: Device
    _judge: Judge
    _timer: StageTimer[Work]  # wall seconds on the device, over all its episodes
    _screens: list[Screen] = field(default_factory=list)
    _elements: list[Elements] | None = None  # of each screen; None: the policy does not use them
    _decisions: list[Decision] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)  # actions that the phone could not perform
    _fault: DeviceError | JudgeError | None = None
    _early_verdict: Verdict | None = None  # the verdict that ended the episode
    _snapshots: list[Any] | None = None  # of the phone before each decision; None: not kept
    _branch: Branch | None = None
    _seconds_before: float = 0.0  # device seconds before this episode's own first step
    environment: str = ""  # recorded in the trajectory

    @classmethod
    def begin(
        cls,
        task: Task,
        device: Device,
        judge: Judge,
        *,
        episode_id: str = "",
        stop_on_success: bool = False,
        timer: StageTimer[Work] | None = None,
        forks: bool = False,
        elements: bool = False,
        environment: str = "",
    ) -> Self:
        """Reset the phone, set up the task on it, and take the first screen.

        `forks`: keep snapshots to continue from its steps, if the device supports that.
        `elements`: read the view hierarchy of each screen as well, for a policy that uses it.
        """
        timer = timer or StageTimer(WORKS)
        episode = cls(task, episode_id or task.id, stop_on_success, device, judge, timer)
        episode.environment = environment
        with timer.at("reset"):
            device.reset(task.seed)
        with timer.at("begin"):
            episode.task = judge.begin(task) or task
        episode._elements = [] if elements else None
        with timer.at("act"):
            screen = device.screen()
            episode._read_elements()
        episode._keep_screen(screen)
        episode._snapshots = [] if forks and isinstance(device, Forkable) else None
        return episode

    def forks(self, count: int) -> Iterator[Episode]:
        """Yield continuations from a step of this episode. Call it after `trajectory`.

        Each restores the phone, so finish one before you request the next. There are none if a
        fault ended this episode, after a continuation that a fault ended, or without snapshots.
        """
        if not self._snapshots or self._fault is not None:
            return
        step = Random(f"fork/{self.id}").randrange(len(self._decisions))
        for number in range(1, count + 1):
            try:
                fork = self._fork(step, f"{self.id}/fork/{number}")
            except DeviceError:  # the next reset handles it; the attempt itself is complete
                return
            yield fork
            if fork._fault is not None:
                return

    def _fork(self, step: int, episode_id: str) -> Episode:
        assert self._snapshots is not None
        assert isinstance(self._device, Forkable)
        self._device.restore(self._snapshots[step])
        return Episode(
            self.task,
            episode_id,
            self.stop_on_success,
            self._device,
            self._judge,
            self._timer,
            _screens=self._screens[: step + 1],
            _elements=None if self._elements is None else self._elements[: step + 1],
            _decisions=self._decisions[:step],
            _branch=Branch(self.id, step),
            _seconds_before=self._device.seconds,
            environment=self.environment,
        )

    @property
    def observation(self) -> Observation:
        """The current input of the policy."""
        actions = [decision.action for decision in self._decisions]
        elements = self._elements or ()
        return observation_after(self.task.instruction, actions, self._screens, elements)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions that were performed so far."""
        return tuple(self._decisions)

    @property
    def notes(self) -> tuple[str, ...]:
        """The actions that the phone could not perform so far, each with its step."""
        return tuple(self._notes)

    @property
    def attempt_id(self) -> str:
        """Its own id, or that of the episode that it continues."""
        return self.id if self._branch is None else self._branch.parent

    @property
    def ended(self) -> bool:
        return (
            self._fault is not None
            or self._early_verdict is not None
            or len(self._decisions) >= self.task.step_limit
            or isinstance(self._last_action, FINAL_ACTIONS)
        )

    @property
    def _last_action(self) -> object:
        return self._decisions[-1].action if self._decisions else None

    def take(self, decision: Decision) -> None:
        """Perform the decided action on the phone, and record the next screen."""
        if isinstance(decision.action, AskUser):
            decision = self._replied(decision, decision.action)
        if self._snapshots is not None:
            self._keep_snapshot()
        try:
            with self._timer.at("act"):
                screen = self._device.perform(decision.action)
                self._read_elements(anew=not isinstance(decision.action, ONLY_SAID))
        except ActionFailed as error:  # no fault: the agent sees that nothing happened
            screen = self._screens[-1]
            self._read_elements(anew=False)
            self._notes.append(f"step {len(self._decisions) + 1}: {type(error).__name__}: {error}")
        except DeviceError as error:
            self._fault = error
            return
        self._keep_screen(screen)
        self._decisions.append(decision)
        if not self.ended and (self.stop_on_success or isinstance(self._judge, EndsEpisode)):
            self._ask_whether_done()

    def _keep_screen(self, screen: Screen) -> None:
        with self._timer.at("pack"):
            self._screens.append(compress(screen))

    def _read_elements(self, *, anew: bool = True) -> None:
        """Record the elements of the new screen, if the policy uses them."""
        if self._elements is None:
            return
        if not anew:  # nothing has changed
            self._elements.append(self._elements[-1])
            return
        try:
            self._elements.append(readable(self._device.elements()))
        except ScreenRestless as error:  # a video, for example: record an empty list
            self._elements.append(())
            self._notes.append(f"screen {len(self._elements)}: ScreenRestless: {error}")

    def _replied(self, decision: Decision, asked: AskUser) -> Decision:
        """Return the decision with the user's reply, in place of one that the model made up."""
        judge = self._judge
        reply = judge.reply(asked.question) if isinstance(judge, KnowsUser) else NOBODY
        return replace(decision, action=replace(asked, reply=reply))

    def _keep_snapshot(self) -> None:
        assert self._snapshots is not None
        assert isinstance(self._device, Forkable)
        try:
            self._snapshots.append(self._device.snapshot())
        except DeviceError:  # the device has failed: the action will raise an error too
            self._snapshots = None

    def _ask_whether_done(self) -> None:
        try:
            over = isinstance(self._judge, EndsEpisode) and self._judge.over()
            verdict = self._judge.verdict(None) if over or self.stop_on_success else None
        except JudgeError as error:
            self._fault = error
            return
        if verdict is not None and (over or (self.stop_on_success and verdict.success)):
            self._early_verdict = verdict

    def trajectory(self) -> Trajectory:
        """Judge the finished episode and return it. Call it once, when the episode has ended."""
        ending, verdict, notes = self._end()
        return Trajectory(
            id=self.id,
            task=self.task,
            decisions=tuple(self._decisions),
            screens=tuple(self._screens),
            ending=ending,
            verdict=verdict,
            device_seconds=self._device.seconds - self._seconds_before,
            notes=(*self._notes, *notes),
            branch=self._branch,
            elements=tuple(self._elements or ()),
            environment=self.environment,
        )

    def _end(self) -> tuple[Ending, Verdict | None, tuple[str, ...]]:
        """Return the ending, the verdict, and notes."""
        if self._fault is not None:
            return _ending_of(self._fault), None, (f"{type(self._fault).__name__}: {self._fault}",)
        if (early := self._early_verdict) is not None:
            return (Ending.SUCCESS if early.success else Ending.FAILURE), early, ()
        last = self._last_action
        try:
            verdict = self._judge.verdict(last.text if isinstance(last, Answer) else None)
        except JudgeError as error:
            return _ending_of(error), None, (f"{type(error).__name__}: {error}",)
        if verdict is None:
            return Ending.AWAITING_VERDICT, None, ()
        if isinstance(last, Impossible):
            return Ending.GAVE_UP, verdict, ()
        said_so = isinstance(last, FINAL_ACTIONS)
        if said_so or (self.stop_on_success and verdict.success):
            return (Ending.SUCCESS if verdict.success else Ending.FAILURE), verdict, ()
        return Ending.STEP_LIMIT, verdict, ()


def _ending_of(fault: DeviceError | JudgeError) -> Ending:
    if isinstance(fault, JudgeError):
        return Ending.DRY_RUN if isinstance(fault, DryRun) else Ending.JUDGE_UNAVAILABLE
    return Ending.APP_CRASH if isinstance(fault, AppCrashed) else Ending.DEVICE_LOST


def run_episode(
    task: Task,
    device: Device,
    policy: Policy,
    judge: Judge,
    *,
    episode_id: str = "",
    stop_on_success: bool = False,
) -> Trajectory:
    """Play one episode of a task with a policy on a device."""
    episode = Episode.begin(
        task,
        device,
        judge,
        episode_id=episode_id,
        stop_on_success=stop_on_success,
        elements=reads_elements(policy),
    )
    while not episode.ended:
        [decision] = policy.decide([episode.observation])
        episode.take(decision)
    return episode.trajectory()


@dataclass(frozen=True, slots=True)
class Attempt:
    """An episode in progress and its policy. Attempts that share a policy are decided in one batch.

    Agents for a specific task, such as the scripted one, are created for each episode. `forks` are
    played after it, on the same device.
    """

    episode: Episode
    policy: Policy
    forks: Iterator[Episode] = field(default_factory=lambda: iter(()))


class EpisodeBatch(Generic[T, D]):
    """Plays one episode for each task, in lockstep. `begin` starts one on a free device.

    Every round calls the policy once for all devices, acts on each, and gives a new task to each
    device whose episode has ended. Devices act one after another: this is for simulated phones,
    which answer in a millisecond. The order is fixed: the same tasks, devices and policy give the
    same trajectories.

    If `tasks` yields None, nothing can start now; the next task is taken after the next step.
    """

    def __init__(
        self, tasks: Iterable[T | None], devices: Sequence[D], begin: Callable[[T, D], Attempt]
    ) -> None:
        self._tasks = iter(tasks)
        self._free = list(devices)
        self._begin = begin
        self._busy: list[tuple[D, Attempt]] = []

    def trajectories(self) -> Iterator[Trajectory]:
        """Yield every trajectory, as its episode ends."""
        while self._start():
            self._step()
            ended = [pair for pair in self._busy if pair[1].episode.ended]
            self._busy = [pair for pair in self._busy if not pair[1].episode.ended]
            yield from [self._ended(*pair) for pair in ended]

    def plays(self, attempt_id: str) -> bool:
        """Return whether this attempt or a fork of it is being played."""
        return any(attempt.episode.attempt_id == attempt_id for _, attempt in self._busy)

    def _ended(self, device: D, attempt: Attempt) -> Trajectory:
        """Return the trajectory; start the next fork on the device, or free it."""
        trajectory = attempt.episode.trajectory()
        fork = next(attempt.forks, None)
        if fork is None:
            self._free.append(device)
        else:
            self._busy.append((device, Attempt(fork, attempt.policy, attempt.forks)))
        return trajectory

    def _start(self) -> bool:
        """Begin episodes on free devices; return False when nothing is left to play."""
        for task in islice(self._tasks, len(self._free)):
            if task is None:
                break
            device = self._free.pop(0)
            self._busy.append((device, self._begin(task, device)))
        return bool(self._busy)

    def _step(self) -> None:
        """Decide for all episodes, in one batch for each policy, and perform the actions."""
        groups: dict[int, tuple[Policy, list[Attempt]]] = {}
        for _, attempt in self._busy:
            _, attempts = groups.setdefault(id(attempt.policy), (attempt.policy, []))
            attempts.append(attempt)
        for policy, attempts in groups.values():
            decisions = policy.decide([attempt.episode.observation for attempt in attempts])
            for attempt, decision in zip(attempts, decisions, strict=True):
                attempt.episode.take(decision)
