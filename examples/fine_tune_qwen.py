"""Fine-tune Qwen2.5-VL with adapters (LoRA) on one GPU.

python examples/fine_tune_qwen.py agent.model=/models/Qwen2.5-VL-3B-Instruct run.minutes=120

For another model, change the config's name in the last lines: `distrl configs` lists them.
"""

import sys

import distrl
from distrl.runs.run_records import Point


def show(point: Point) -> None:
    """Called with every point of the metrics, as it is recorded."""
    if point.series == "learner":
        print(f"update {point.updates}, {point.seconds:.0f} s: {point.figures.get('loss/policy')}")


if __name__ == "__main__":
    run = distrl.train(distrl.load_config("qwen2_5_vl_3b_one_gpu", sys.argv[1:]), on_metrics=show)
    print(f"adapters in PEFT's format: {run.policy}")
