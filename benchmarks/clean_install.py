"""Check what works after installing the wheel and nothing else (`make bench-clean-install`).

For each Python, makes a virtual environment with the wheel alone and one with the extra `learn`,
and runs in them `distrl doctor`, a short `distrl train quick_start`, examples 1 to 5, and one
command for every extra that is missing. Each must end as expected and without a traceback; a
missing extra must be named in the message. Writes results/clean-install.json. Environments in
`--folder` are reused, with a new wheel. `--torch` is the requirement for PyTorch that pip is given.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results_file import write_results

ROOT = Path(__file__).parents[1]
SHORT = (
    "run.minutes=0.2", "evaluation.before=2", "evaluation.after=2", "devices.count=2",
    "collection.collectors=1", "pacing.minimum_fill=2", "learning.learner.batch_trajectories=2",
    "reporting.recordings=0", "evaluation.every_minutes=none",
)  # fmt: skip
EXAMPLES = ("random_agent", "own_policy", "own_judge_and_reward", "own_task", "own_device")
TRAIN = EXAMPLES[2], EXAMPLES[4]
CLI = ("-m", "distrl")
BARE: dict[str, tuple[str, ...]] = {  # commands that work with the wheel alone
    "tasks": (*CLI, "tasks", "--json"),
    "configs": (*CLI, "configs"),
    "evaluate monkey": (*CLI, "evaluate", "monkey", "--episodes", "2"),
    "plan": (*CLI, "plan", "large_lab"),
    "phone": (*CLI, "phone", "play", "clock.turn_off_alarm/train/0", "--out", "a.gif"),
}
MISSING: dict[str, tuple[str, ...]] = {  # extra: a command that needs it
    "data": (*CLI, "export", "RUN", "--parquet", "a.parquet"),
    "android": (*CLI, "devices"),
    "served": (*CLI, "evaluate", "http://127.0.0.1:9/v1", "--episodes", "1"),
    "smollm": (*CLI, "model", "get", "smollm2"),
    "join": (
        *CLI,
        "collect",
        "--join",
        "https://127.0.0.1:9",
        "--fingerprint",
        "00",
        "--token-file",
        "token",
    ),
    "view": (*CLI, "view", "RUN"),
    "video": (*CLI, "phone", "play", "clock.turn_off_alarm/train/0", "--out", "a.mp4"),
    "ray": (*CLI, "train", "cluster"),
    "miniwob": (*CLI, "train", "miniwob"),
    "openenv": ("-m", "distrl.environments.openenv_server"),
    "trl": (str(ROOT / "examples" / "trl_grpo.py"), "model"),
}
MODULES = {  # extra: a module that needs it
    "gym": "phonesim.gymnasium_env",
    "android-env": "distrl.devices.android_env.android_env_device",
    "verifiers": "distrl.environments.verifiers_environment",
    "cube": "distrl.environments.cube_benchmark",
}
IMPORTING = """from distrl.errors import NotInstalled
try:
    import {}
except NotInstalled as error:
    raise SystemExit(error)
"""
SCRIPT = """import distrl
try:
    distrl.train
except distrl.errors.NotInstalled as error:
    raise SystemExit(error)
"""
NEEDS_LEARN = {
    "learn: doctor": (*CLI, "doctor"),
    "learn: plan": (*CLI, "plan", "quick_start"),  # reads the settings of a run
    "learn": (*CLI, "train", "quick_start"),
    "learn, in a script": ("-c", SCRIPT),
}


@dataclass(frozen=True)
class Outcome:
    """The result of one command."""

    python: str
    installed: str
    what: str
    ok: bool
    seconds: float
    last_line: str


@dataclass(frozen=True)
class Installation:
    """A virtual environment with the wheel, with or without an extra."""

    python: Path
    version: str
    extra: str
    folder: Path  # an empty working directory

    def tried(self, what: str, words: tuple[str, ...], *, missing: str = "") -> Outcome:
        """Run a command. If `missing` is given, the command must fail and name that extra."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        began = time.monotonic()
        done = subprocess.run(
            [self.python, *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        said = done.stdout + done.stderr
        plain = " ".join(said.split())
        named = any(each in plain for each in (f"distrl[{missing}]", f"{missing}=="))
        told = named and done.returncode != 0
        ok = "Traceback" not in said and (told if missing else done.returncode == 0)
        lines = [line for line in said.splitlines() if line.strip()]
        spent = round(time.monotonic() - began, 1)
        return Outcome(self.version, self.extra, what, ok, spent, " ".join(lines[-3:])[-300:])


def installation(python: str, wheel: Path, extra: str, torch: str, folder: Path) -> Installation:
    version = subprocess.run(
        [python, "-c", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    place = folder / f"{extra or 'bare'}-{version}"
    inside = place / "bin" / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", place], check=True)
        if extra:
            subprocess.run([inside, "-m", "pip", "install", "-q", torch], check=True)
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        subprocess.run([inside, "-m", "pip", "install", "-q", wanted], check=True)
    renewed = ["install", "-q", "--no-deps", "--force-reinstall", str(wheel)]
    subprocess.run([inside, "-m", "pip", *renewed], check=True)
    work = folder / f"work-{place.name}-{int(time.time())}"
    work.mkdir()
    return Installation(inside, version, extra or "none", work)


def bare_outcomes(bare: Installation) -> Iterator[Outcome]:
    for what, words in BARE.items():
        yield bare.tried(what, words)
    for what, words in NEEDS_LEARN.items():
        yield bare.tried(f"without {what}", words, missing="learn")


def learning_outcomes(learning: Installation) -> Iterator[Outcome]:
    yield learning.tried("doctor", (*CLI, "doctor"))
    chosen = [word for each in SHORT for word in ("--set", each)]
    yield learning.tried("train quick_start", (*CLI, "train", "quick_start", *chosen))
    for name in EXAMPLES:
        script = str(ROOT / "examples" / f"{name}.py")
        yield learning.tried(name, (script, *(SHORT if name in TRAIN else ())))
    run = next(iter(sorted((learning.folder / "runs").glob("*"))), learning.folder)
    for extra, words in MISSING.items():
        given = tuple(str(run) if word == "RUN" else word for word in words)
        yield learning.tried(f"without {extra}", given, missing=extra)
    for extra, module in MODULES.items():
        yield learning.tried(
            f"without {extra}, in a script", ("-c", IMPORTING.format(module)), missing=extra
        )


def figures(outcomes: list[Outcome]) -> dict[str, float]:
    """Return seconds by Python and command, or -1 where a command did not end as expected."""
    return {
        f"{each.python}, extras: {each.installed}, {each.what}": each.seconds if each.ok else -1.0
        for each in outcomes
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--folder",
        type=lambda word: Path(word).absolute(),
        required=True,
        help="of the environments",
    )
    options.add_argument("--python", nargs="+", default=[sys.executable])
    options.add_argument("--bare", nargs="*", default=[], help="Pythons for the wheel alone")
    options.add_argument("--torch", default="torch", help="what pip is told for PyTorch")
    given = options.parse_args()
    wheels = given.folder / "wheels"
    words = ["wheel", "-q", "--no-deps", "-w", str(wheels), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    wheel = max(wheels.glob("distrl-*.whl"), key=lambda file: file.stat().st_mtime)
    outcomes: list[Outcome] = []
    for python in (*given.python, *given.bare):
        parts = [bare_outcomes(installation(python, wheel, "", given.torch, given.folder))]
        if python in given.python:
            made = installation(python, wheel, "learn", given.torch, given.folder)
            parts.append(learning_outcomes(made))
        for outcome in (each for part in parts for each in part):
            print("ok  " if outcome.ok else "BAD ", outcome.python, outcome.what, outcome.last_line)
            outcomes.append(outcome)
    write_results("clean-install", figures(outcomes))
    sys.exit(any(not each.ok for each in outcomes))


if __name__ == "__main__":
    main()
