"""Collector and learner in a loop of your own: one process, no engine, no run directory."""

import sys

import distrl
from distrl.learning.learner_report import LearnerReport

if __name__ == "__main__":
    config = distrl.load_config("quick_start", sys.argv[1:])
    learner = distrl.build_learner(config)
    with distrl.build_collector(config, learner) as collector:
        while learner.updates < (config.run.updates or 5):
            played = collector.collect(config.devices.count)
            good = sum(each.success for each in played)
            while isinstance(report := learner.step(), LearnerReport):
                print(f"update {learner.updates}: {good} of {len(played)}", report.gauges())
