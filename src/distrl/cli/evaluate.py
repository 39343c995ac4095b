"""`distrl evaluate`: play tasks of a split with a model; print and save the success rates.

Every outcome is on disk as soon as its episode ends (beside the JSON file, `….outcomes.jsonl`), so
that `--continue` can resume an interrupted evaluation or extend a shorter one. With `--on` it plays
the tasks of other settings, on whatever devices those have. The phone and torch are imported where
they are needed, so that `distrl --help` answers at once.
"""

from __future__ import annotations

import hashlib
import json as json_format
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Console

from distrl.agent.export_directory import trained_directory
from distrl.agent.policy import Policy
from distrl.agent.simple_policies import BLANKS, Blank, BlankedPolicy
from distrl.cli.evaluate_on import evaluate_on
from distrl.errors import NotInstalled, UsageError
from distrl.output_file import prepare_output_file
from distrl.records import (
    CORE_FAMILIES,
    FAMILY_CHOICES,
    SPLITS,
    Ending,
    Family,
    Split,
    Task,
    chosen_families,
)
from distrl.reporting.evaluation_report import EvaluationReport
from distrl.reporting.progress import EvaluationProgress

if TYPE_CHECKING:
    from distrl.engine.device_wiring import Sizes
    from distrl.engine.environment import CheckSizes
    from distrl.episodes.evaluation import PolicyFor
    from distrl.episodes.outcome import Outcome
    from distrl.episodes.outcome_log import OutcomeLog

Choice = TypeVar("Choice", bound=str)
On = Annotated[
    list[str] | None,
    typer.Option(
        help="Play the tasks, devices and judge of these settings (a TOML file, a run, or a name "
        "such as miniwob) instead of simulated phones; repeated, there is a row for each."
    ),
]
Model = Annotated[
    str,
    typer.Argument(
        help="The model: starter (the one we ship), a directory, a hub id, the url of a server "
        "(http://…/v1), or a simple agent: scripted, idle, done, monkey."
    ),
]
Keep = Annotated[
    Path | None, typer.Option(help="Keep every episode in this folder, for `distrl view`.")
]
Families = Annotated[
    list[str] | None,
    typer.Option(help="Tasks: general, shopping, both (the default), everyday; may be repeated."),
]
Templates = Annotated[
    list[str] | None,
    typer.Option(help="Play only tasks of this template, or pattern (notes.*); may be repeated."),
]
Greedy = Annotated[
    bool,
    typer.Option("--greedy/--sampled", help="Take the likeliest token, or sample as in training."),
]
SplitOption = Annotated[
    str | None,
    typer.Option(
        help="Split of tasks: test, train, long, …; default: test, with --on the split that the "
        "settings evaluate on."
    ),
]
TaskSetPath = Annotated[
    Path | None,
    typer.Option(
        help="Play the tasks of this file. If there is none it is written first, from --split, "
        "--family, --template, --episodes and --seed."
    ),
]
ResultPath = Annotated[
    Path | None, typer.Option(help="Write the result for `distrl leaderboard` to this file.")
]


def evaluate(
    model: Model,
    split: SplitOption = None,
    family: Families = None,
    template: Templates = None,
    episodes: Annotated[int, typer.Option(min=1, help="Number of tasks to play.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the tasks and of sampling.")] = 0,
    devices: Annotated[
        int,
        typer.Option(
            "--phones", min=1, max=1024, help="Number of simulated phones playing at once."
        ),
    ] = 16,
    greedy: Greedy = False,
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature for --sampled; 1 by default.")
    ] = None,
    dialect: Annotated[str | None, typer.Option(help="Dialect, if not the model's own.")] = None,
    adapter: Annotated[Path | None, typer.Option(help="Directory of a LoRA adapter.")] = None,
    device: Annotated[str, typer.Option(help="Where the model computes: cpu or cuda.")] = "cpu",
    blank: Annotated[
        str | None, typer.Option(help="Hide the screen or the instruction from the agent.")
    ] = None,
    on: On = None,
    json: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
    keep: Keep = None,
    task_set: TaskSetPath = None,
    result: ResultPath = None,
    resume: Annotated[
        bool, typer.Option("--continue", help="Go on with the evaluation saved beside --json.")
    ] = False,
) -> None:
    """Measure a model: success on unseen tasks, with its 95 % interval."""
    if greedy and temperature is not None:
        raise UsageError(f"--temperature {temperature:g} is for --sampled; --greedy has none")
    evaluation = Evaluation(
        model=model,
        split=_one_of("split", split or "test", SPLITS),
        families=chosen_families(
            _one_of("family", each, FAMILY_CHOICES) for each in family or ["both"]
        ),
        templates=tuple(template or ()),
        episodes=episodes,
        seed=seed,
        devices=devices,
        temperature=None if greedy else (1.0 if temperature is None else temperature),
        dialect=dialect,
        adapter=adapter,
        device=device,
        blank=_one_of("blank", blank, BLANKS) if blank else None,
        figures=json,
        resume=resume,
        keep=keep,
        task_set=task_set,
        result=result,
    )
    if on:
        evaluate_on(Console(), evaluation, on, one_split=split is not None)
    else:
        evaluate_model(Console(), evaluation)


def _one_of(name: str, given: str, choices: Sequence[Choice]) -> Choice:
    for choice in choices:
        if choice == given:
            return choice
    raise UsageError(f"--{name} {given}: there are {', '.join(choices)}")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The options of one evaluation: model, tasks, and files to write."""

    model: str
    split: Split = "test"
    families: tuple[Family, ...] = CORE_FAMILIES
    templates: tuple[str, ...] = ()
    episodes: int = 200
    seed: int = 0
    devices: int = 16
    temperature: float | None = None  # None: greedy
    dialect: str | None = None  # None: the one that goes with the model
    adapter: Path | None = None
    device: str = "cpu"
    blank: Blank | None = None
    figures: Path | None = None
    resume: bool = False
    keep: Path | None = None  # where episodes are kept, screens included
    task_set: Path | None = None
    result: Path | None = None

    def __post_init__(self) -> None:
        if self.resume and self.figures is None:
            raise UsageError("--continue goes on from what is beside the --json FILE; give one")
        if self.adapter is not None and (self.served or self.model in _simple_agents()):
            raise UsageError(f"{self.model!r} has no weights here to put an adapter on")

    def prepare_files(self) -> None:
        """Raise if an output file cannot be written, before anything is played."""
        tasks = self.task_set
        read = tasks is not None and tasks.exists() and not tasks.is_dir()  # may be a pipe
        written = {"figures": self.figures, "result": self.result}
        for what, path in (written if read else written | {"tasks": tasks}).items():
            if path is not None:
                prepare_output_file(path, f"{what}.json")

    def settings(self) -> dict[str, object]:
        """Return what makes outcomes comparable: `--continue` requires all of it to be equal."""
        return {
            "model": self.model,
            "split": self.split,
            "families": list(self.families),
            "templates": list(self.templates),
            "seed": self.seed,
            "greedy": self.temperature is None,
            "temperature": self.temperature,
            "dialect": self.dialect,
            "adapter": str(self.adapter) if self.adapter else None,
            "blank": self.blank,
            "weights": _stamp(self.model, self.adapter),
        }

    @contextmanager
    def policy_for(self) -> Iterator[PolicyFor]:
        """Yield a factory of policies: a simple agent is made per episode, a model opened once."""
        if (simple := _simple_agents().get(self.model)) is not None:
            yield lambda task, device, judge: self._seeing(simple(task, device, judge))
        else:
            with _needing("served" if self.served else "learn"), ExitStack() as stack:
                model = self._seeing(self._served(stack) if self.served else self._loaded())
                yield lambda task, device, judge: model

    def check_sizes(self, say: Callable[[str], None]) -> CheckSizes | None:
        """Return a check that raises if the model cannot take a screen, and warns if it letterboxes
        one; None: the model takes all screens.
        """
        if self.served or self.model in _simple_agents():
            return None
        with _needing("learn"):
            from distrl.agent.loading import input_builder
            from distrl.engine.run.preflight import check_screens
        builder = input_builder(self.model, self.adapter)

        def check(sizes: Sizes) -> None:
            if words := check_screens(self.model, builder, sizes):
                say(words)

        return check

    @property
    def served(self) -> bool:
        return self.model.startswith(("http://", "https://"))

    def _seeing(self, policy: Policy) -> Policy:
        return BlankedPolicy(policy, self.blank) if self.blank else policy

    def _loaded(self) -> Policy:
        from distrl.agent.loading import load_policy

        return load_policy(
            self.model,
            device=self.device,
            greedy=self.temperature is None,
            temperature=1.0 if self.temperature is None else self.temperature,
            dialect=self.dialect,
            adapter=self.adapter,
            seed=self.seed,
        )

    def _served(self, stack: ExitStack) -> Policy:
        from distrl.agent.dialects import dialect_named
        from distrl.agent.prompt import Prompter
        from distrl.agent.served_policy import ServedPolicy, ServedSampling, in_patches
        from distrl.chat.chat_server import ChatServer, ServerSettings

        if self.dialect is None:
            raise UsageError(f"{self.model} does not say how its model writes actions; --dialect")
        sampling = ServedSampling(self.temperature, require_tokens=False)
        prompter = Prompter(dialect_named(self.dialect), seen_size=in_patches)
        server = ChatServer.open(ServerSettings(self.model))
        return stack.enter_context(closing(ServedPolicy(server, prompter, sampling)))


def _simple_agents() -> dict[str, PolicyFor]:
    from distrl.episodes.evaluation import SIMPLE_AGENTS

    return SIMPLE_AGENTS


@contextmanager
def _needing(extra: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "distrl":
            raise
        raise NotInstalled(
            f"the package {error.name!r} is not installed; such a model needs "
            f"pip install 'distrl[{extra}]'. Agents that need nothing: "
            f"{', '.join(_simple_agents())}"
        ) from error


def evaluate_model(console: Console, evaluation: Evaluation) -> EvaluationReport:
    """Play what has not been played yet, show the tables, and write the figures."""
    from distrl.episodes.outcome_log import OutcomeLog
    from distrl.runs.run_directory import write_whole

    evaluation.prepare_files()
    started = time.perf_counter()
    tasks, settings = _tasks(evaluation), evaluation.settings()
    open_log = OutcomeLog.resumed if evaluation.resume else OutcomeLog.new
    path = log_path(evaluation.figures) if evaluation.figures else None
    with (
        evaluation.policy_for() as policy_for,  # first: a bad model must not leave a log
        open_log(path, settings) if path else OutcomeLog(None, []) as log,
        EvaluationProgress(console, len(tasks)) as progress,
    ):
        outcomes = _play(evaluation, tasks, policy_for, log, progress)
    report = EvaluationReport(settings, outcomes, time.perf_counter() - started)
    console.print(report.shown())
    if evaluation.keep:
        console.print(f"look at it: distrl view {evaluation.keep}", highlight=False, markup=False)
    if evaluation.figures:
        write_whole(evaluation.figures, json_format.dumps(report.figures(), indent=2) + "\n")
        console.print(f"\n{evaluation.figures}", highlight=False, markup=False)
    if evaluation.result:
        _write_result(evaluation.result, report)
        console.print(f"distrl leaderboard {evaluation.result}", highlight=False, markup=False)
    return report


def _tasks(evaluation: Evaluation) -> list[Task]:
    """Read the task set; if its file is missing, draw tasks from the split and write them to it."""
    from distrl.episodes.evaluation import evaluation_tasks
    from distrl.reporting.leaderboard import TaskSetFile, read_task_set, write_task_set

    path = evaluation.task_set
    if path is not None and path.exists():
        return read_task_set(path).load(path)
    found = evaluation_tasks(
        evaluation.split, evaluation.families, evaluation.templates, evaluation.seed
    )
    tasks = list(islice(found, evaluation.episodes))
    if path is not None:
        write_task_set(path, TaskSetFile.of(path.stem, tasks))
    return tasks


def _write_result(path: Path, report: EvaluationReport) -> None:
    from distrl.reporting.leaderboard import result_of, write_result

    write_result(path, result_of(dict(report.settings), report.outcomes))


def log_path(figures: Path) -> Path:
    """Return the path of the outcome log: result.outcomes.jsonl beside result.json."""
    return figures.with_name(f"{figures.name.removesuffix('.json')}.outcomes.jsonl")


def _play(
    evaluation: Evaluation,
    tasks: Sequence[Task],
    policy_for: PolicyFor,
    log: OutcomeLog,
    progress: EvaluationProgress,
) -> list[Outcome]:
    """Return the outcomes of all tasks, in order; tasks in the log are not played again."""
    from distrl.episodes.evaluation import play
    from distrl.episodes.outcome import outcome_of
    from distrl.runs.kept_episodes import KeptEpisodes
    from phonesim.simulated_device import SimulatedDevice

    found = {outcome.task.id: outcome for outcome in log.outcomes}
    for task in tasks:
        if task.id in found:
            progress.count(found[task.id])
    left = [task for task in tasks if task.id not in found]
    devices = [SimulatedDevice(f"evaluation-{n}") for n in range(evaluation.devices)]
    with KeptEpisodes.open(evaluation.keep) if evaluation.keep else nullcontext() as kept:
        for trajectory in play(left, policy_for, devices):
            outcome = found[trajectory.task.id] = outcome_of(trajectory)
            log.append(outcome)
            if kept is not None:
                kept.add(trajectory)
            progress.count(outcome)
        if kept is not None:
            judged = [each for each in found.values() if each.ending.judged]
            successes = {each.task.id: each.ending is Ending.SUCCESS for each in judged}
            kept.note_evaluation(evaluation.split, successes)
    return [found[task.id] for task in tasks]


def _stamp(model: str, adapter: Path | None) -> str | None:
    """Digest names, sizes and times of the model's files: no evaluation may mix two models."""
    named = (trained_directory(model) or Path(model), adapter)
    folders = [path for path in named if path and path.is_dir()]
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())
    stats = [(str(file), file.stat()) for file in files]
    facts = [f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats]
    return hashlib.blake2b("\n".join(facts).encode(), digest_size=8).hexdigest() if facts else None
