"""Measure the starter model on tasks that it has never seen (`make bench-starter`).

    test_greedy, test_sampled   of the templates that were demonstrated, with other parameters
    held_out_templates_…        of the templates that nobody demonstrated
    …_general, …_shopping       by family; …_low, …_high: 95 % intervals of the whole

`--device cuda` computes on a GPU; `--from FOLDER` takes the same evaluations made elsewhere by
`distrl evaluate --json FOLDER/eval-SPLIT--greedy.json` (and `--sampled`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.results_file import write_results

SPLITS = ("test", "held_out_templates")
WAYS = ("greedy", "sampled")
EVALUATE = [sys.executable, "-c", "from distrl.cli.main import main; main()", "evaluate"]


def evaluate(folder: Path, model: str, episodes: int, device: str) -> None:
    """Play every split greedily and sampled; each evaluation leaves a file in the folder."""
    for split in SPLITS:
        for way in WAYS:
            words = [model, "--split", split, f"--{way}", "--episodes", str(episodes)]
            words += ["--device", device, "--json", str(_file(folder, split, way))]
            subprocess.run([*EVALUATE, *words], check=True)


def figures(folder: Path) -> Iterator[tuple[str, float]]:
    for split in SPLITS:
        for way in WAYS:
            found: dict[str, Any] = json.loads(_file(folder, split, way).read_text("utf-8"))
            name = f"{split}_{way}"
            yield name, found["success"]
            yield f"{name}_low", found["low"]
            yield f"{name}_high", found["high"]
            yield f"{name}_episodes", found["episodes"]
            for family, shares in found["by_family"].items():
                yield f"{name}_{family}", shares["success"]


def _file(folder: Path, split: str, way: str) -> Path:
    return folder / f"eval-{split}--{way}.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="starter")
    parser.add_argument("--episodes", type=int, default=434, help="two of each test template")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--from", dest="folder", type=Path, help="evaluations made before")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if given.folder is None:
            evaluate(Path(temporary), given.model, given.episodes, given.device)
        found = dict(figures(given.folder or Path(temporary)))
    table = Table("figure", "value", box=None)
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)
    made = "make bench-starter" if given.folder is None else "distrl evaluate starter --json …"
    write_results("starter", found, made)


if __name__ == "__main__":
    main()
