"""What a run says is written down though the run itself may write no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.train_runs import keep_output

ON_A_FULL_DISK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print("StorageFull: no room", flush=True)
"""


def test_a_quota_on_the_run_does_not_silence_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = subprocess.Popen([sys.executable, "-c", ON_A_FULL_DISK], stdout=subprocess.PIPE)
    assert process.stdout is not None
    keep_output(process.stdout, log)
    assert process.wait() == 0
    assert log.read_text() == "StorageFull: no room\n"
