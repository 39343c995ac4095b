"""Every task can be done, by its own solution, on different phones with pop-ups and drift.

And no task is done by doing nothing, or by saying so. By default each template is tried on three
phones or four, shared among its splits; with `--all-seeds` on five of each split. Screens are
drawn for the first of each.
"""

import itertools
import math
import statistics

import pytest
from tests.phonesim.tasks.unwatched import play_unwatched
from tests.slow_params import one_in

from distrl.episodes.demonstrations import demonstrate
from distrl.episodes.evaluation import SIMPLE_AGENTS, evaluate
from distrl.episodes.outcome import success_rate
from distrl.records import CORE_FAMILIES, SPLITS, Ending
from phonesim.drift import Drift
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task, splits_of, template_names, templates
from phonesim.tasks.wordings import REWORDED

SEEDS, FEW_SEEDS = 5, 3  # of a split; of all splits together
CALM_SEEDS, FEW_CALM_SEEDS = 12, 4  # no three have a median within the band for every template
BANDS = {
    "easy": (2, 3),
    "medium": (4, 7),
    "hard": (8, 12),
    "long": (11, 25),
}  # actions, the final word not counted
OWN = [split for split in SPLITS if split not in REWORDED]  # the others repeat tasks of `test`
CASES = [(name, split) for split in OWN for name in template_names(split)]
# Across apps a step or two are a matter of the layout; few run by default, for they are long.
SLACK = 2
MAX_STEPS = 25  # of the best way through any task
CORE = [name for name, each in templates().items() if each.family in CORE_FAMILIES]
EVERYDAY = [name for name, each in templates().items() if each.family == "everyday"]


@pytest.mark.parametrize("name", [*CORE, *one_in(24, EVERYDAY)])
def test_it_is_not_done_at_the_start_and_its_solution_always_succeeds(
    name: str, all_seeds: bool
) -> None:
    device = SimulatedDevice("solutions", drift=Drift(popup_rate=0.05, ad_rate=0.4))
    judge = FactJudge(device)
    splits = [split for split in splits_of(templates()[name]) if split in OWN]
    seeds = SEEDS if all_seeds else math.ceil(FEW_SEEDS / len(splits))
    for split, number in itertools.product(splits, range(seeds)):
        task, _ = load_task(f"{name}/{split}/{number}")
        device.reset(task.seed)
        judge.begin(task)
        for answer in (None, "", "done", "yes", "0"):
            assert judge.reason(answer), f"{task.id} is done at the start with answer {answer!r}"
        if number == 0 and (all_seeds or split == splits[0]):
            watched = demonstrate(task, device)
            played, verdict = watched.ending is Ending.SUCCESS, watched.verdict
        else:
            verdict = play_unwatched(task.id, device).verdict
            played = verdict.success
        assert played, f"{task.id} {task.instruction!r}: {verdict}"


@pytest.mark.parametrize("name", one_in(3, CORE))
def test_the_number_of_steps_fits_the_difficulty(name: str, all_seeds: bool) -> None:
    device = SimulatedDevice("calm", drift=Drift(popup_rate=0.0))
    split = splits_of(templates()[name])[0]
    seeds = range(CALM_SEEDS if all_seeds else FEW_CALM_SEEDS)
    steps = [play_unwatched(f"{name}/{split}/{number}", device).steps for number in seeds]
    low, high = BANDS[templates()[name].difficulty]
    assert low - 0.5 <= statistics.median(steps) <= high + 0.5, steps
    assert max(steps) <= 12, steps


@pytest.mark.parametrize("name", one_in(48, EVERYDAY))
def test_the_number_of_steps_of_everyday_tasks_fits_the_difficulty(name: str) -> None:
    device = SimulatedDevice("calm", drift=Drift(popup_rate=0.0))
    split = splits_of(templates()[name])[0]
    seeds = range(FEW_CALM_SEEDS)
    steps = [play_unwatched(f"{name}/{split}/{number}", device).steps for number in seeds]
    low, high = BANDS[templates()[name].difficulty]
    assert low - SLACK - 0.5 <= statistics.median(steps) <= high + SLACK + 0.5, steps
    assert statistics.median(steps) <= MAX_STEPS, steps


@pytest.mark.parametrize("agent", ["idle", "done"])
def test_an_agent_that_does_nothing_never_succeeds(agent: str, all_seeds: bool) -> None:
    some = [load_task(f"{name}/{split}/1")[0] for name, split in CASES[:: 2 if all_seeds else 20]]
    outcomes = evaluate(some, SIMPLE_AGENTS[agent], [SimulatedDevice(agent)])
    assert success_rate(outcomes).successes == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_monkey_rarely_succeeds_even_when_it_need_not_say_so() -> None:
    some = [load_task(f"{name}/{split}/1")[0] for name, split in CASES]
    ape = SimulatedDevice("ape")
    outcomes = evaluate(some, SIMPLE_AGENTS["monkey"], [ape], stop_on_success=True)
    rate = success_rate(outcomes)
    assert rate.episodes >= 600
    assert rate.rate < 0.03, [o.task.id for o in outcomes if o.ending is Ending.SUCCESS]
