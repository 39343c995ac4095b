"""TRL's GRPOTrainer on the phone, whose actions are tools. Needs `pip install 'distrl[trl]'`.

A language model reads the elements of each screen; ours read pixels. Any model with a chat template
for tools will do: `python examples/trl_grpo.py Qwen/Qwen3-0.6B`.
"""

import argparse
from importlib.util import find_spec
from typing import Any

from distrl.episodes.tool_environment import ToolEnvironment

ASKED = [{"role": "user", "content": "Operate the phone by calling tools; call finish at the end."}]


def trainer(model: Any, tasks: list[str], tokenizer: Any = None, **settings: Any) -> Any:
    """A trainer that is ready to train; `settings` are those of GRPOConfig."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    rows = Dataset.from_dict({"prompt": [ASKED] * len(tasks), "task": tasks})
    return GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=rows,
        environment_factory=ToolEnvironment,
        args=GRPOConfig(**settings),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a directory or an id of the hub, such as Qwen/Qwen3-0.6B")
    model = parser.parse_args().model
    if find_spec("trl") is None:
        parser.error("TRL is not installed: pip install 'distrl[trl]'")
    tasks = [f"clock.turn_off_alarm/train/{number}" for number in range(64)]
    trainer(model, tasks, max_completion_length=4096, output_dir="runs/trl").train()
