"""The shortest training script: the starter model on simulated phones.

About five minutes on two cores: four and a half of training, and an evaluation before and after.
"""

import sys

import distrl

if __name__ == "__main__":
    config = distrl.load_config("quick_start", sys.argv[1:])
    run = distrl.train(config)
    print(run.directory, run.result.success_after if run.result else "stopped")
