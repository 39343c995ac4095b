"""The cluster of three hosts for the tests of this folder, and their figures."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.results_file import update_results, write_results
from tests.machines.cluster import Cluster
from tests.machines.hosts import why_not

Figures = dict[str, float]
CUT_SECONDS = 20.0
FIGURES = pytest.StashKey[Figures]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cut-seconds", type=float, default=CUT_SECONDS, help="of a link's cut")
    parser.addoption(
        "--write-results", action="store_true", help="write benchmarks/results/machines.json"
    )
    parser.addoption(
        "--keep-results", action="store_true", help="keep what that file has and this did not do"
    )


@pytest.fixture(scope="session")
def cut_seconds(request: pytest.FixtureRequest) -> float:
    return float(request.config.getoption("cut_seconds", CUT_SECONDS))


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> Figures:
    """Flat: name -> number."""
    return request.config.stash.setdefault(FIGURES, {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the figures, and write them if that was asked for."""
    found = config.stash.get(FIGURES, {})
    width = max(map(len, found), default=0)
    for name, value in found.items():
        terminalreporter.write_line(f"  {name:<{width}}  {value:g}")
    if found and config.getoption("write_results", default=False):
        if config.getoption("keep_results"):
            path = update_results("machines", found, "newest_part")
        else:
            path = write_results("machines", found, "make test-machines")
        terminalreporter.write_line(str(path))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    # in the background of a shell Ctrl-C is ignored, also by all that is started from there
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder: Path = tmp_path_factory.mktemp("model")
    with Cluster(folder) as started:
        yield started
