"""The environment variables with which a process that uses torch should be started.

C libraries read these variables once, when a process starts: setting them from Python is too late.
So the command re-executes itself (`restart_if_needed`) before it imports anything heavy, and its
child processes inherit the variables. A variable that the user has set is left alone. The effects
were measured on two shared cores with `python -m benchmarks.process_environment`. The variables:

    OMP_WAIT_POLICY=passive   waiting threads sleep; spinning, they would take cores from collectors
    MALLOC_…_THRESHOLD_       freed tensors stay in the heap instead of returning to the kernel
                              after every step, which costs a page fault per 4 kB at the next use;
                              the largest ones do return, since they would leave holes in the heap
    ONEDNN_MAX_CPU_ISA        virtual machines that report AMX but cannot run it silently kill a
                              process at its first bf16 product; this avoids AMX
    TOKENIZERS_PARALLELISM    a tokenizer's threads are not fork-safe, and it warns about that
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
    """Return the wanted variables that an environment lacks."""
    return {name: value for name, value in WANTED.items() if name not in environment}


def for_forkserver(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a forkserver: imports must start no threads in it.

    Its child processes set their own number of threads (`collection.threads`). The usual check for
    a GPU would initialise CUDA, which does not survive a fork; PYTORCH_NVML_BASED_CUDA_CHECK checks
    through NVML instead.
    """
    return {**WANTED, **environment, **TO_FORK_FROM}


def restart_if_needed() -> None:
    """Re-execute this process with the right environment; return if it is already right.

    Also return if a restart would be wrong: torch is loaded, so DistRL is used as a library, or
    `sys.argv` differs from the command line of this process.
    """
    lacking = missing(os.environ)
    if not lacking or "torch" in sys.modules or not _is_own_command_line():
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **lacking})


def _is_own_command_line() -> bool:
    """Return whether this process was started as `distrl words` or `python -m distrl words`."""
    program, words = Path(sys.argv[0]), sys.argv[1:]
    ours = program.stem == "distrl" or program.parent.name == "distrl"
    as_started = sys.orig_argv[len(sys.orig_argv) - len(words) :] == words
    named = any(Path(word).stem == "distrl" for word in sys.orig_argv[: -len(words) or None])
    return ours and as_started and named and bool(sys.executable)


def check_script() -> None:
    """Raise `UsageError` if the main script would run again in its own collectors.

    Processes that multiprocessing starts import the script: without `if __name__ == "__main__":`
    each would start its own run instead of collecting, and this process would wait for ever. They
    do not import the `__main__` of a package or a folder (`python -m mypkg`): it needs no guard.
    """
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)  # None: the script was given as a file
    module = str(getattr(spec, "name", ""))
    if module == "__main__" or module.endswith(".__main__"):
        return
    script = getattr(main, "__file__", None)  # None: an interactive session or a notebook
    if script is None or not Path(script).is_file():
        return
    if "__name__" not in Path(script).read_text("utf-8", errors="replace"):
        raise UsageError(
            f"{script} starts a run, and its collectors are processes that import this script "
            'again: put what it runs below `if __name__ == "__main__":`'
        )


def trim_heap() -> bool:
    """Return free heap pages to the kernel by `malloc_trim(0)`; False if libc has no such function.

    Tensors of varying sizes leave holes between used blocks, and with the malloc settings above the
    heap hardly shrinks by itself: without this call a learner with constant memory use would grow
    over weeks. The call takes some milliseconds.
    """
    if not sys.platform.startswith("linux"):
        return False
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))


def available_memory() -> int:
    """Return the bytes of memory that are still available, considering a container's limit.

    Without /proc (on a Mac), return all memory of the machine.
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
