"""Export of a run's trajectories as a Hugging Face dataset: `distrl export --dataset DIR`.

    data/train.parquet    a row for each screen (`parquet`)
    README.md             the dataset card: contents, origin, how to load it

`datasets.load_dataset(DIR)` reads it; `push` uploads the folder, private unless told otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from distrl.errors import NotInstalled, UsageError
from distrl.records import Trajectory
from distrl.replay.store.parquet import export_parquet

DATA = "data/train.parquet"
CARD = """---
pretty_name: {name}
task_categories:
- reinforcement-learning
- image-text-to-text
tags:
- gui-agents
- distrl
configs:
- config_name: default
  data_files:
  - split: train
    path: {data}
---

# {name}

Trajectories of an agent that operates phones, recorded by [DistRL](https://arxiv.org/abs/2410.14803) {version}.
{trajectories} episodes in {rows} rows, {successes} of them a success. The agent: `{model}`. The phones: `{devices}`.

| how episodes ended | |
|---|---|
{endings}

A row is a screen: `image`, the `instruction`, the `action` that was decided on it (JSON), the `text` that the model wrote with its `token_ids` and their `log_probs` as
sampled, the `weight_version` that sampled them, `messages` (the step as a chat), and of the whole episode `success`, `reason`, `judge`, `ending`. `trajectory_id` and `step`
put an episode together; its last screen has no action. Coordinates are shares of the screen.

```python
from datasets import load_dataset

rows = load_dataset("{place}", split="train")
```

Screens of real phones show what was on them. Look before you make it public.
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """Facts for the dataset card that cannot be counted from the trajectories."""

    name: str
    version: str  # of DistRL
    model: str
    devices: str


@dataclass(slots=True)
class _Counted:
    trajectories: Iterable[Trajectory]
    endings: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Trajectory]:
        for each in self.trajectories:
            self.endings[each.ending.value] += 1
            yield each


def write_dataset(trajectories: Iterable[Trajectory], folder: Path, facts: DatasetFacts) -> int:
    """Write data and card; return the number of trajectories."""
    counted = _Counted(trajectories)
    rows = export_parquet(counted, folder / DATA)
    total = sum(counted.endings.values())
    card = CARD.format(
        name=facts.name,
        version=facts.version,
        model=facts.model,
        devices=facts.devices,
        data=DATA,
        place=folder.name,
        rows=rows,
        trajectories=total,
        successes=counted.endings["success"],
        endings="\n".join(f"| {name} | {n} |" for name, n in counted.endings.most_common()),
    )
    (folder / "README.md").write_text(card, "utf-8")
    return total


def push(folder: Path, repository: str, *, private: bool = True) -> str:
    """Upload the folder as a dataset of that name, with the user's token; return its URL."""
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise NotInstalled("the hub needs huggingface_hub; pip install 'distrl[learn]'") from error
    hub = HfApi()
    try:
        hub.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        hub.upload_folder(folder_path=folder, repo_id=repository, repo_type="dataset")
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise UsageError(
            f"{folder} could not be pushed to {repository}: {error}; log in with `hf auth login`, "
            "and give OWNER/NAME"
        ) from error
    return f"https://huggingface.co/datasets/{repository}"
