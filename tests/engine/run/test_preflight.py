"""What can be known before a run starts is asked before it starts, and nothing is played."""

from __future__ import annotations

import json
import shutil
import socket
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from safetensors.numpy import save_file
from tests.agent.tiny_models import tiny_model
from tests.chat.chat_protocol import Reply, completion, serving
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.engine.aitw_files import aitw_settings
from tests.engine.test_vlm_judged_runs import by_the_question
from tests.engine.tiny_runs import tiny_config

from distrl.agent.families.model_family import InputBuilder
from distrl.cli.doctor import run_findings
from distrl.cli.train import new_directory
from distrl.config.sections import JudgeSettings
from distrl.config.training_config import load_config
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.preflight import (
    check_disk,
    check_gpu,
    check_judge,
    check_memory,
    check_model,
    check_screens,
    check_system,
    checks,
    preflight,
)
from distrl.errors import InvalidSetting, JudgeError, UnusableModel

Disk = namedtuple("Disk", "free")
GB = 2**30


def judge_at(url: str, **more: str | float) -> JudgeSettings:
    return JudgeSettings("vlm", url, "judge", tries=2, deadline_seconds=2.0, **more)  # type: ignore[arg-type]


def vlm(url: str) -> list[str]:
    return ["judge.kind=vlm", f"judge.server={url}", "judge.model=judge", "judge.tries=1"]


# The judge ----------------------------------------------------------------------------------------


def test_a_judge_that_is_down_stops_the_run_before_a_phone_plays(
    tmp_path: Path, model: Path
) -> None:
    with socket.socket() as closed:  # bound, and never listening
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        config = tiny_config(tmp_path, model, *vlm(url), "collection.mode=one_process")
        engine = LocalEngine(config, new_directory(config), Console(quiet=True))
        with pytest.raises(JudgeError, match="See that the server is up"):
            engine.train()
    assert not engine.directory.episodes.exists()
    assert engine.directory.discard_unused()


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_the_judge_does_not_take_is_refused_by_name(status: int) -> None:
    refused = pytest.raises(JudgeError, match="DISTRL_JUDGE_KEY")
    with serving(listing=Reply(b"no", status=status)) as (url, _), refused:
        check_judge(judge_at(url))


def test_the_key_is_sent_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISTRL_JUDGE_KEY", "sk-nobody-may-see")
    with serving() as (url, log):
        check_judge(judge_at(url))
    assert [each["Authorization"] for each in log.headers] == ["Bearer sk-nobody-may-see"]


def test_a_model_that_the_server_does_not_list_is_refused_the_second_as_well() -> None:
    refused = pytest.raises(JudgeError, match="no model 'judge'; it lists other")
    with serving(models=("other",)) as (url, _), refused:
        check_judge(judge_at(url))
    with serving() as (url, _):
        check_judge(judge_at(url))
        with pytest.raises(JudgeError, match="no model 'expert'"):
            check_judge(judge_at(url, second_model="expert"))


NO_LISTS = [
    *(Reply(b"{}", status=status) for status in (404, 405, 501)),
    Reply(b'{"data": []}'),
    Reply(b'{"data": 3}'),
    Reply(b'[{"id": "judge"}]'),
]


@pytest.mark.parametrize("listing", NO_LISTS)
def test_a_server_without_a_list_of_models_is_asked_one_tiny_question(listing: Reply) -> None:
    with serving(Reply(completion("yes")), listing=listing) as (url, log):
        check_judge(judge_at(url))
    [asked] = log.completions
    assert (asked["model"], asked["max_tokens"]) == ("judge", 16)
    unknown = Reply(b'{"error": "model \'judge\' does not exist"}', status=404)
    refused = pytest.raises(JudgeError, match=r"nothing was begun: .*model 'judge' does not exist")
    with serving(unknown, listing=listing) as (url, _), refused:
        check_judge(judge_at(url))


def test_something_that_is_no_chat_server_is_no_judge() -> None:
    refused = pytest.raises(JudgeError, match="has no choices")
    with serving(Reply(b'{"ok": true}'), listing=NO_LISTS[0]) as (url, _), refused:
        check_judge(judge_at(url))


# Phones and models --------------------------------------------------------------------------------


def over_adb(phones: ServedPhones, url: str, folder: Path) -> list[str]:
    return [
        "devices.kind=adb",
        "devices.count=1",
        f"devices.serials={phones.phones.addresses[0]}",
        f"devices.android.adb_port={phones.adb.port}",
        *aitw_settings(folder),
        *vlm(url),
    ]


def reading(folder: Path, model: Path, width: int, height: int) -> Path:
    """A copy of a model whose settings say that it reads screens of that size."""
    copy = shutil.copytree(model, folder / "reads-others")
    config = json.loads((copy / "config.json").read_text())
    config |= {"screen_width": width, "screen_height": height}
    (copy / "config.json").write_text(json.dumps(config))
    return copy


def test_a_model_that_cannot_take_the_phones_screen_is_refused_before_the_first_start(
    tmp_path: Path, model: Path
) -> None:
    with served_phones(1) as phones, serving(Reply(by_the_question)) as (url, _):
        words = over_adb(phones, url, tmp_path)
        preflight(tiny_config(tmp_path, model, *words), tmp_path, lambda sentence: None)
        config = tiny_config(tmp_path, reading(tmp_path, model, 1080, 2400), *words)
        engine = LocalEngine(config, new_directory(config), Console(quiet=True))
        with pytest.raises(UnusableModel, match=r"phone-0 .*360 × 720 .*1080 × 2400"):
            engine.train()
    assert not engine.directory.episodes.exists()
    assert not (engine.directory.path / "logs").exists()


def test_the_starter_takes_upright_simulated_phones_and_says_that_it_reads_less(
    tmp_path: Path, model: Path
) -> None:
    said: list[str] = []
    for screen in ("360x720@1", "1080x2400@3"):
        preflight(tiny_config(tmp_path, model, f"devices.screen={screen}"), tmp_path, said.append)
    assert len([each for each in said if "is shown to it at 324 × 720" in each]) == 1
    for screen in ("1280x800@1", "720x360@1"):
        lying = tiny_config(tmp_path, model, f"devices.screen={screen}")
        with pytest.raises(UnusableModel, match=r"cannot take .*reads 360 × 720 .*less than half"):
            preflight(lying, tmp_path, said.append)


# Memory and disk ----------------------------------------------------------------------------------


def test_less_room_than_the_run_may_want_is_said(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(tmp_path, model, f"store.byte_limit={10 * GB}")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: Disk(9 * GB))
    assert "lower store.byte_limit" in check_disk(config, tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: Disk(11 * GB))
    assert check_disk(config, tmp_path) == ""
    assert "lower replay.byte_limit" in check_memory(config, GB // 2)
    assert check_memory(config, 1000 * GB) == ""


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ((), 4 * 16_000),  # weights, gradients and two moments
        (("agent.policy.weights=bfloat16",), 4 * 8_000),
        (("agent.policy.lora.rank=2",), 16_000),
    ],
)
def test_a_model_that_the_gpu_cannot_hold_is_refused(
    tmp_path: Path, settings: tuple[str, ...], wanted: int
) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    save_file({"weight": np.zeros(4000, np.float32)}, folder / "model.safetensors")
    (folder / "config.json").write_text('{"dtype": "float32"}')
    config = tiny_config(tmp_path, folder, "agent.policy.device=cuda", *settings)
    assert check_gpu(config, 10 * GB) == ""
    assert "the run wants about" in check_gpu(config, 2 * wanted)
    with pytest.raises(InvalidSetting, match="the learner alone needs"):
        check_gpu(config, wanted - 1)


def test_a_gpu_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path) -> None:
    config = load_config(Path("qwen2_5_vl_3b_one_gpu"))
    with pytest.raises(InvalidSetting, match=r"sees no GPU here.*on a machine that has a GPU"):
        check_gpu(config, None)
    cluster = ["engine.kind=ray", "engine.address=auto"]
    assert "doctor --cluster" in check_gpu(load_config(Path("handsets"), cluster), None)
    on_cpu = [each.what for each in checks(tiny_config(tmp_path, tmp_path), tmp_path)]
    assert "GPU memory" not in on_cpu


def test_fewer_gpus_than_are_to_learn_are_refused_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    config = load_config(Path("qwen2_5_vl_7b_four_gpus"))
    [check] = [each for each in checks(config, tmp_path) if each.what == "GPUs that learn"]
    with pytest.raises(InvalidSetting, match=r"learning\.gpus=4, and rank 3 finds no GPU"):
        check.ask()


def test_a_model_of_the_hub_is_as_large_as_plan_says(tmp_path: Path) -> None:
    """The doctor passed every GPU for a model that had not been fetched yet."""
    config = load_config(Path("qwen2_5_vl_3b_one_gpu"))
    with pytest.raises(InvalidSetting, match="the learner alone needs"):
        check_gpu(config, 6 * GB)
    assert "the run wants about" in check_gpu(config, 24 * GB)
    assert check_gpu(config, 80 * GB) == ""


def test_the_doctor_names_a_missing_model_as_the_model(
    tmp_path: Path,
) -> None:
    path = tmp_path / "missing.toml"
    path.write_text('[agent]\nmodel = "./no/such/model"\n')
    found = {each.what: each for each in run_findings(path, tmp_path)}
    assert (found["model"].verdict, found["phones"].verdict) == ("lacking", "good")
    assert "there is no directory" in found["model"].found


def test_offline_no_phone_and_no_judge_is_asked(tmp_path: Path, model: Path) -> None:
    words = ["learning.learner.mode=offline", f"learning.corpus={tmp_path}"]
    asked = [each.what for each in checks(tiny_config(tmp_path, model, *words), tmp_path)]
    assert not {"phones", "judge", "tasks"} & set(asked)


def test_the_doctor_shows_what_a_run_would_be_told(tmp_path: Path, model: Path) -> None:
    with serving(models=("other",)) as (url, _):
        tiny_config(tmp_path, model)  # writes the file
        path = tmp_path / "tiny.toml"
        judge = f'[judge]\nkind = "vlm"\nserver = "{url}"\nmodel = "judge"\n'
        path.write_text(f'{path.read_text()}\n{judge}\n[agent]\nmodel = "{model}"\n')
        found = {each.what: each for each in run_findings(path, tmp_path)}
    assert found["phones"].verdict == "good"
    assert (found["judge"].verdict, "it lists other" in found["judge"].found) == ("lacking", True)


# The system --------------------------------------------------------------------------------------


def test_a_gpu_of_apple_is_refused_where_there_is_none_and_else_said_to_be_untried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(tmp_path, tmp_path, "agent.policy.device=mps")
    [check] = [each for each in checks(config, tmp_path) if each.what == "GPU"]
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    with pytest.raises(InvalidSetting, match="sees no Apple GPU here; take cpu"):
        check.ask()
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    assert "we have never run anything on an Apple GPU" in check.ask()


def test_collectors_of_their_own_are_refused_where_there_is_no_linux(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path)
    assert check_system(config, "linux") == ""
    with pytest.raises(InvalidSetting, match=r"give collection\.mode=one_process"):
        check_system(config, "darwin")
    assert (
        check_system(tiny_config(tmp_path, tmp_path, "collection.mode=one_process"), "darwin") == ""
    )


def test_a_language_model_that_is_lent_eyes_takes_upright_screens_alone(
    tmp_path: Path,
) -> None:
    config = tiny_config(tmp_path, tiny_model("llama"), "agent.sees=both")
    opened: list[InputBuilder] = []
    check_model(config, opened)
    assert check_screens("words", opened[0], {"phone-0": (360, 720)}) == ""
    scaled = check_screens("words", opened[0], {"phone-1": (1080, 2400), "phone-2": (412, 732)})
    assert "the screen of phone-1, 1080 × 2400, is shown to it at 324 × 720" in scaled
    with pytest.raises(UnusableModel, match=r"phone-2.*1280 × 800.*reads 360 × 720.*elements"):
        check_screens("words", opened[0], {"phone-2": (1280, 800)})
    with pytest.raises(InvalidSetting, match="given elements or both"):
        check_model(tiny_config(tmp_path, tiny_model("llama"), "agent.sees=screen"), opened)
