"""The environment that a process with torch in it should have been started with.

Read once, by the C libraries, when a process begins: setting them from Python comes too late. So
the command starts itself anew (`restart_if_needed`) before anything heavy is imported, and whatever
it starts inherits them. A variable that the user has set is left alone. Measured side by side on
two shared cores by `python -m benchmarks.process_environment`; what each is for:

    OMP_WAIT_POLICY=passive   waiting threads sleep; spinning, they would take cores from collectors
    MALLOC_…_THRESHOLD_       tensors stay in the heap instead of going back to the kernel after
                              every step, which costs a page fault for each 4 kB when they come
                              back; the largest do go back, for the holes that they would leave
    ONEDNN_MAX_CPU_ISA        virtual machines that show AMX but cannot run it kill a process at its
                              first bf16 product, without a word; this keeps to what runs everywhere
    TOKENIZERS_PARALLELISM    a tokenizer's threads and a fork do not go together, and it says so
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from distrl.errors import UsageError

WANTED: dict[str, str] = {
    "OMP_WAIT_POLICY": "passive",
    "MALLOC_MMAP_THRESHOLD_": str(64 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(512 * 2**20),
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16",
    "TOKENIZERS_PARALLELISM": "false",
}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
TO_FORK_FROM = {**ONE_THREAD, "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


def missing(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process should have in its environment and has not."""
    return {name: value for name, value in WANTED.items() if name not in environment}


def for_forkserver(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that others are forked from: imports must start no threads.

    How many threads its children compute with, they set themselves (`collection.threads`). The
    usual way to ask whether there is a GPU would initialise CUDA, which does not survive a fork;
    PYTORCH_NVML_BASED_CUDA_CHECK asks in another way.
    """
    return {**WANTED, **environment, **TO_FORK_FROM}


def restart_if_needed() -> None:
    """Begin anew with the right environment; returns where it is right already.

    It also returns where starting anew would be wrong: torch is loaded, so somebody uses us as a
    library, or `sys.argv` is not what this process was started with.
    """
    lacking = missing(os.environ)
    if not lacking or "torch" in sys.modules or not _is_own_command_line():
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **lacking})


def _is_own_command_line() -> bool:
    """Was this process started as `distrl words` or `python -m distrl words`?"""
    program, words = Path(sys.argv[0]), sys.argv[1:]
    ours = program.stem == "distrl" or program.parent.name == "distrl"
    as_started = sys.orig_argv[len(sys.orig_argv) - len(words) :] == words
    named = any(Path(word).stem == "distrl" for word in sys.orig_argv[: -len(words) or None])
    return ours and as_started and named and bool(sys.executable)


def check_script() -> None:
    """Refuse a script that its own collectors would run again.

    Processes that multiprocessing starts import the script: without `if __name__ == "__main__":`
    each begins a run of its own instead of collecting, and this one waits for trajectories. They
    leave out the `__main__` of a package or a folder (`python -m mypkg`): it needs no guard.
    """
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)  # None: the script was given as a file
    module = str(getattr(spec, "name", ""))
    if module == "__main__" or module.endswith(".__main__"):
        return
    script = getattr(main, "__file__", None)  # None: a prompt, a notebook
    if script is None or not Path(script).is_file():
        return
    if "__name__" not in Path(script).read_text("utf-8", errors="replace"):
        raise UsageError(
            f"{script} starts a run, and its collectors are processes that import this script "
            'again: put what it runs below `if __name__ == "__main__":`'
        )


def trim_heap() -> bool:
    """Return free heap pages to the kernel by `malloc_trim(0)`; False where libc has none.

    Tensors of varying sizes leave holes between what is in use, and with the malloc settings above
    little returns by itself: without this a learner whose use is level grows over weeks. Takes some
    milliseconds.
    """
    if not sys.platform.startswith("linux"):
        return False
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))


def available_memory() -> int:
    """Bytes that may still be used here, the limit of a container included.

    Where there is no /proc (a Mac): all that the machine has.
    """
    table = Path("/proc/meminfo")
    if not table.exists():
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    lines = table.read_text().splitlines()
    [free] = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    limit = Path("/sys/fs/cgroup/memory.max")
    used = Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and used.exists() and limit.read_text().strip() != "max":
        free = min(free, int(limit.read_text()) - int(used.read_text()))
    return free
