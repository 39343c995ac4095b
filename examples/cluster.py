"""The same run on a Ray cluster (`distrl cluster start`); engine.address=local is a private one."""

import sys

import distrl

if __name__ == "__main__":
    run = distrl.train(distrl.load_config("cluster", sys.argv[1:]))
    print(run.directory, run.result.success_after if run.result else "stopped")
