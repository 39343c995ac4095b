"""Which tasks, phones and judges go together; what cannot work is refused with a way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from distrl.config.training_config import TrainingConfig, load_config
from distrl.errors import InvalidSetting

VLM = ("judge.kind=vlm", "judge.server=http://localhost:8000/v1", "judge.model=judge")
AITW = ("tasks.source=aitw", "tasks.aitw.train_file=a.txt", "tasks.aitw.test_file=b.txt")
WORLD = ("tasks.source=android_world", "devices.kind=android_world", "devices.count=1")
UNTESTED = ("evaluation.before=0", "evaluation.after=0")
CONFIGS = Path(__file__).parents[2] / "src/distrl/configs"


@pytest.mark.parametrize(
    "words",
    [
        (),
        VLM,
        ("devices.kind=adb",),
        (*VLM, *AITW, *UNTESTED),
        (*VLM, *AITW, *UNTESTED, "devices.kind=adb"),
        (*VLM, *AITW, *UNTESTED, "devices.kind=emulator"),
        (*WORLD, *UNTESTED, "judge.kind=android_world"),
        (*WORLD, *UNTESTED, *VLM),
    ],
)
def test_what_goes_together_is_read_and_written_the_same(words: tuple[str, ...]) -> None:
    assert isinstance(load_config(None, words), TrainingConfig)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("judge.kind=vlm",), "name a server, such as http://localhost:8000/v1"),
        (("devices.kind=emulator",), "devices.kind='emulator' with tasks.source='simulated'"),
        ((*VLM, "devices.kind=emulator"), "give tasks.source='aitw'"),
        ((*AITW, *UNTESTED), "judge.kind='facts' with tasks.source='aitw'"),
        ((*AITW, *UNTESTED, "judge.kind=android_world"), "only tasks of the source android_world"),
        ((*WORLD, *UNTESTED), "give judge.kind='vlm' with judge.server and judge.model, or andr"),
        ((*VLM, *WORLD[:1], *UNTESTED), "give android_world for both, or for neither"),
        ((*VLM, *AITW, *UNTESTED, *WORLD[1:]), "give android_world for both, or for neither"),
        (
            (*WORLD[:2], *UNTESTED, *VLM, "devices.count=2"),
            "names 1 containers for devices.count=2",
        ),
        (
            (*VLM, *AITW),
            "on web pages that judge themselves (judge.kind='page'): give 0, 0 and none",
        ),
        ((*VLM, "collection.stop_on_success=true"), "come after the episode: leave it out"),
        ((*VLM, "tasks.curriculum=success_rate"), "give uniform or instruction_value"),
        ((*VLM, *UNTESTED, AITW[0]), "name both text files"),
        ((*VLM, *AITW, *UNTESTED, "tasks.split=held_out_apps"), "train or test"),
        ((*VLM, *AITW, *UNTESTED, "tasks.templates=a"), "its instructions have none"),
        (("tasks.android_world.urls=localhost",), "give urls like http://127.0.0.1:5000"),
        (("tasks.android_world.urls=http://a,http://a",), "a container is one phone"),
        (("devices.android.first_emulator_port=5555",), "give even console ports"),
        (("judge.second_share=2",), "0 to 1 of the trajectories"),
    ],
)
def test_what_does_not_is_refused(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidSetting, match=re.escape(said)):
        load_config(None, words)


@pytest.mark.parametrize(("name", "kind"), [("handsets", "adb"), ("emulators", "emulator")])
def test_the_settings_that_we_ship_for_real_phones_need_no_facts(name: str, kind: str) -> None:
    config = load_config(CONFIGS / f"{name}.toml")
    assert (config.devices.kind, config.tasks.source, config.judge.kind) == (kind, "aitw", "vlm")
    assert config.devices.android.safety.dry_run == (name == "handsets")
    # Handsets are guarded in any case; simulated phones on adb, so that one can rehearse with them.
    assert config.devices.android.guard_all == (name == "handsets")
