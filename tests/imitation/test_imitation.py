"""Teaching lowers the losses, follows its settings, and keeps the mean of its weights."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
import torch
from tests.imitation.few_samples import recipe
from tests.imitation.tiny_pretraining import SIZES, SMALL, new_pupil
from torch import Tensor

from distrl.agent.starter.vocabulary import tokens
from distrl.errors import InvalidSetting
from distrl.imitation.imitation import (
    Imitation,
    ImitationSettings,
    Progress,
    make_validation_set,
    recipe_of,
)
from distrl.imitation.losses import imitation_losses
from distrl.imitation.sample_stream import SampleRecipe, open_stream
from phonesim.tasks.task_sets import template_names

CPU = torch.device("cpu")
EASY = recipe("train", "todo.star", slip_rate=0.0)


def trained(
    settings: ImitationSettings,
    about: SampleRecipe = EASY,
    validation_set: dict[str, Tensor] | None = None,
) -> tuple[Imitation, list[Progress]]:
    """A new model after its training, and its learning curve."""
    curve: list[Progress] = []
    imitation = Imitation(new_pupil(settings.seed), settings, curve.append)
    with open_stream(about, settings.processes, slab=4) as stream:
        imitation.run(
            stream, validation_set or make_validation_set(about, settings.validation_set, 1, CPU)
        )
    return imitation, curve


def examined(curve: list[Progress]) -> list[Progress]:
    """On a slow machine there are others in between."""
    return [point for point in curve if point.validation is not None]


@pytest.mark.slow
def test_a_few_dozen_steps_on_one_template_teach_something() -> None:
    settings = dataclasses.replace(SMALL, steps=24, batch=8, fill=32, validate_every=100)
    validation_set = make_validation_set(EASY, 12, 1, CPU)
    imitation, [*_, point] = trained(settings, validation_set=validation_set)
    with torch.no_grad():
        before = imitation_losses(new_pupil(settings.seed), validation_set)
        after = imitation_losses(imitation.model, validation_set)
    assert float(after.action) < 0.4 * float(before.action)
    for name in ("ink", "starts", "signs"):
        assert float(getattr(after, name)) < 0.95 * float(getattr(before, name))
    assert point.step == 24
    assert point.samples >= 32
    assert point.seconds > 0


def test_the_exam_is_sat_by_the_mean_of_the_weights_which_do_not_change_by_it() -> None:
    settings = dataclasses.replace(SMALL, steps=3, validate_every=100)
    validation_set = make_validation_set(recipe("test"), 6, 1, CPU)
    imitation, curve = trained(settings, validation_set=validation_set)
    words = {str(int(token)) for token in validation_set["answer"][:, 0]}
    assert [set(point.by_word) for point in examined(curve)] == [words]  # at the last step, always

    end, word = imitation.model.config.eos_token_id, tokens().index("<done>")
    validation_set["answer"] = torch.zeros_like(validation_set["answer"])
    validation_set["answer"][:, 0], validation_set["answer"][:, 1] = word, end  # nothing else
    validation_set["cells"] = torch.zeros_like(validation_set["cells"])
    bias = [name for name, _ in imitation.model.named_parameters()].index("say.bias")
    imitation.masters[bias][word], imitation.averaged[bias][word] = -1e3, 1e3
    with torch.no_grad():
        imitation.model.say.bias[word] = -1e3
    before = [master.clone() for master in imitation.masters]
    assert imitation.validate(validation_set) == (1.0, {str(word): 1.0})
    for now, was, own in zip(imitation.masters, before, imitation.model.parameters(), strict=True):
        assert torch.equal(now, was)
        assert torch.equal(own, was)
    imitation.averaged[bias][word] = -1e3
    assert imitation.validate(validation_set)[0] == 0.0


def test_the_mean_of_the_weights_is_a_running_one() -> None:
    """Early on it follows quickly: (1 + n) / (10 + n) of it is kept at step n."""
    imitation, _ = trained(
        dataclasses.replace(SMALL, steps=1), validation_set=make_validation_set(EASY, 2, 1, CPU)
    )
    kept = 2 / 11
    starts = new_pupil(SMALL.seed).parameters()
    for start, master, mean in zip(starts, imitation.masters, imitation.averaged, strict=True):
        wanted = kept * start.detach() + (1 - kept) * master
        torch.testing.assert_close(mean, wanted, atol=1e-6, rtol=0)


def test_it_stops_when_it_is_good_enough() -> None:
    settings = dataclasses.replace(SMALL, steps=50, validate_every=2, enough=0.0001, batch=8)
    validation_set = make_validation_set(EASY, 8, 1, CPU)
    validation_set["answer"] = validation_set["answer"] * 0  # nothing to say: all of it is right
    validation_set["cells"] = validation_set["cells"] * 0
    imitation, curve = trained(settings, validation_set=validation_set)
    assert [(point.step, point.validation) for point in examined(curve)] == [(2, 1.0)]
    assert imitation.settings.steps == 50


def test_the_learning_rate_goes_up_in_a_line_and_down_in_a_cosine() -> None:
    settings = dataclasses.replace(SMALL, steps=100, warm_up=20, learning_rate=1.0)
    imitation = Imitation(new_pupil(0), settings)
    rates = []
    for step in range(101):
        imitation._step = step
        rates.append(imitation._learning_rate())
    assert rates[0] == pytest.approx(1 / 20)
    assert rates[19] == pytest.approx(1.0)
    assert max(rates) == pytest.approx(1.0)
    assert rates[60] == pytest.approx(0.505)  # half way down
    assert rates[100] == pytest.approx(0.01)
    assert all(a <= b for a, b in pairwise(rates[:20]))
    assert all(a >= b for a, b in pairwise(rates[20:]))


def test_the_same_seed_gives_the_same_first_weights() -> None:
    first, again, other = (list(new_pupil(seed).parameters()) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_masters_are_in_full_precision_whatever_the_model_computes_in() -> None:
    pupil = new_pupil(0)
    masters = Imitation(pupil, SMALL).masters
    assert {master.dtype for master in masters} == {torch.float32}
    assert all(torch.equal(m, p) for m, p in zip(masters, pupil.parameters(), strict=True))
    assert masters[0].data_ptr() != next(pupil.parameters()).data_ptr()


def test_a_long_gradient_is_shortened() -> None:
    settings = dataclasses.replace(SMALL, max_gradient=0.5)
    imitation = Imitation(new_pupil(0), settings)
    imitation._train(make_validation_set(EASY, 2, 1, CPU))
    lengths = [float(each.grad.norm()) for each in imitation.masters if each.grad is not None]
    assert sum(length**2 for length in lengths) ** 0.5 == pytest.approx(0.5, rel=1e-3)


def test_the_lecture_is_about_every_training_template_and_shops_come_twice() -> None:
    about = recipe_of(SMALL, new_pupil(0))
    assert set(about.templates) == set(template_names("train"))
    shopping = template_names("train", "shopping")
    assert all(about.templates.count(name) == 2 for name in shopping)
    assert len(about.templates) == len(template_names("train", "general")) + 2 * len(shopping)
    assert about.split == "train"


def test_a_validation_set_has_as_many_samples_as_asked_or_a_few_less() -> None:
    validation_set = make_validation_set(EASY, 7, 2, CPU)
    assert {len(tensor) for tensor in validation_set.values()} == {
        6
    }  # slabs of three, from two processes


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"steps": 0}, "ImitationSettings.steps=0; give a whole number, 1 or more"),
        ({"processes": -1}, "ImitationSettings.processes=-1"),
        ({"enough": 1.5}, "ImitationSettings.enough=1.5; give a number, 0 to 1"),
        ({"slip_rate": float("nan")}, "ImitationSettings.slip_rate=nan"),
        ({"reservoir": 100}, "imitation.reservoir=100; give a multiple of 64"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        dataclasses.replace(SMALL, **wrong)  # type: ignore[arg-type]


def test_the_tiny_sizes_are_known_to_the_model() -> None:
    config = new_pupil(0).config
    assert {name: getattr(config, name) for name in SIZES} == SIZES
