"""What a machine has and lacks: every verdict can come out, each with what to do."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from distrl.cli import doctor
from distrl.cli.doctor import Finding, examine, show_doctor
from distrl.process_environment import WANTED, available_memory


def answer(code: int, out: str = "", error: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess(["python"], code, out, error)


def test_old_python_is_lacking() -> None:
    assert doctor.python_finding((3, 10, 2)).verdict == "lacking"
    assert doctor.python_finding((3, 12, 0)).verdict == "good"


def test_little_of_anything_is_noted() -> None:
    assert doctor.cores_finding(1).verdict == "note"
    assert doctor.cores_finding(2).found == "2 cores"
    assert doctor.memory_finding(2 * 2**30).advice.startswith("lower replay.byte_limit")
    assert doctor.memory_finding(20 * 2**30).verdict == "good"
    assert doctor.files_finding(256).advice == "many devices need more: ulimit -n 65536"
    assert doctor.files_finding(-1).found == "no limit"


def test_a_full_disk_is_lacking(tmp_path: Path) -> None:
    assert doctor.disk_finding(tmp_path, 2**20).verdict == "lacking"
    assert doctor.disk_finding(tmp_path, 2**40).verdict == "good"


def test_memory_is_read_off_this_machine() -> None:
    assert 2**26 < available_memory() < 2**46


def test_torch_that_is_not_there_is_lacking_with_its_own_words() -> None:
    error = "Traceback\nModuleNotFoundError: No module named 'torch'"
    [finding] = doctor.torch_findings(answer(1, "", error))
    assert finding.verdict == "lacking"
    assert finding.found == "ModuleNotFoundError: No module named 'torch'"
    assert "distrl[learn]" in finding.advice
    assert "whl/cpu" in finding.advice


def test_a_gpu_is_named() -> None:
    told = (
        '{"version": "2.13", "threads": 8, "built_for": "13.0", "gpus": [["H200", 150000000000]]}'
    )
    torch, gpu = doctor.torch_findings(answer(0, f"a warning\n{told}\n"))
    assert torch.found == "2.13, 8 threads"
    assert gpu == Finding("GPU", "good", "H200 (140 GB), CUDA 13.0")


def test_a_gpu_of_apple_is_named_and_not_recommended() -> None:
    told = '{"version": "2.13", "threads": 8, "built_for": null, "gpus": [], "mps": true}'
    _, gpu = doctor.torch_findings(answer(0, told))
    assert (gpu.verdict, gpu.found) == ("note", "Apple's (MPS), on which nothing was ever run")
    assert "agent.policy.device=cpu" in gpu.advice


def test_torch_itself_says_which_gpus_there_are() -> None:
    torch, *_ = doctor.torch_findings(doctor.ask_torch(doctor.PROBE, os.environ))
    assert torch.verdict == "good"


def test_a_process_that_bf16_ends_is_told_apart_from_one_that_fails() -> None:
    assert doctor.bf16_finding(answer(0), answer(0)).verdict == "good"
    trap = doctor.bf16_finding(answer(-4), answer(0))
    assert trap.verdict == "note"
    assert "SIGILL" in trap.found
    assert "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16" in trap.advice
    assert "float32" in doctor.bf16_finding(answer(-4), answer(-4)).advice
    assert "exit code 1" in doctor.bf16_finding(answer(1), answer(1)).found


def test_a_real_process_that_dies_is_seen_as_such() -> None:
    killed = doctor.ask_torch("import os; os.kill(os.getpid(), 4)", os.environ)
    assert "SIGILL" in doctor.bf16_finding(killed, answer(0)).found


def test_a_process_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PATIENCE", 0.2)
    [finding] = doctor.torch_findings(doctor.ask_torch("import time; time.sleep(60)", os.environ))
    assert finding.found == "no answer within 0.2 s"


def test_packages_are_needed_or_only_useful() -> None:
    assert doctor.package_finding("peft", None, "no LoRA", "distrl[learn]").verdict == "lacking"
    noted = doctor.package_finding("ray", None, "no cluster", "distrl[ray]")
    assert (noted.verdict, noted.advice) == ("note", "pip install 'distrl[ray]'")
    assert doctor.package_finding("ray", "2.60", "", "").found == "2.60"
    assert doctor.version_of("rich") is not None
    assert doctor.version_of("no-such-package-anywhere") is None


def test_pictures_need_a_newer_transformers_or_torchvision() -> None:
    assert doctor.pictures_finding(None, None).verdict == "lacking"
    assert doctor.pictures_finding("5.17.0", None).verdict == "lacking"
    assert doctor.pictures_finding("5.17.0", "0.28").found == "by torchvision"
    assert doctor.pictures_finding("5.22.2", None).found == "by Pillow"


def test_the_environment_is_looked_at() -> None:
    assert doctor.environment_finding(WANTED).verdict == "good"
    assert "OMP_WAIT_POLICY" in doctor.environment_finding({}).found
    compiled = doctor.environment_finding({**WANTED, "PYTHONDONTWRITEBYTECODE": "1"})
    assert "unset" in compiled.advice


def test_programs_are_looked_for_on_the_path_and_in_the_sdk(tmp_path: Path) -> None:
    adb = tmp_path / "platform-tools" / "adb"
    adb.parent.mkdir()
    adb.write_text("#!/bin/sh\n")
    adb.chmod(0o755)
    found, missing = doctor.android_findings({"ANDROID_HOME": str(tmp_path), "PATH": ""})
    assert (found.verdict, found.found) == ("good", str(adb))
    assert "distrl adb" in found.advice  # it is not on the PATH
    assert missing.verdict == "note"
    found, _ = doctor.android_findings({"PATH": str(adb.parent)})
    assert found == Finding("adb", "good", str(adb))


def test_the_adb_of_the_extra_is_found() -> None:
    """It lies in site-packages, where no PATH leads."""
    pytest.importorskip("adbutils")
    found, _ = doctor.android_findings({"PATH": ""})
    assert (found.what, found.verdict) == ("adb", "good")


def test_kvm_is_there_or_not(tmp_path: Path) -> None:
    assert doctor.kvm_finding(tmp_path / "kvm").found == "none"
    (tmp_path / "kvm").touch()
    assert doctor.kvm_finding(tmp_path / "kvm").verdict == "good"


def test_it_prints_every_finding_and_says_what_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "ask_torch", lambda code, environment: answer(1, "", "[no] torch"))
    file = io.StringIO()
    assert not show_doctor(Console(file=file, width=100), tmp_path)
    said = file.getvalue()
    for finding in examine(tmp_path):
        assert finding.what in said
    assert "✗  torch" in said
    assert "[no] torch" in said
    assert "Lacking: torch" in said


@pytest.mark.slow
def test_this_machine_is_fit_for_training(tmp_path: Path) -> None:
    """The tests run here, so what they need is not lacking."""
    lacking = [finding for finding in examine(tmp_path) if finding.verdict == "lacking"]
    assert lacking == []


def test_a_missing_browser_is_a_note_with_what_to_install(tmp_path: Path) -> None:
    missing = doctor.chromium_finding({"PATH": str(tmp_path)})
    assert (missing.verdict, missing.what) == ("note", "Chromium")
    assert "apt install chromium-headless-shell" in missing.advice
    for name, verdict in (("chromium", "note"), ("chromium-headless-shell", "good")):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        found = doctor.chromium_finding({"PATH": str(tmp_path)})
        assert (found.verdict, name in found.found) == (verdict, True)
