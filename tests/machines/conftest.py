"""The cluster of three hosts for the tests of this folder, and their figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.results_file import write_results
from tests.machines.cluster import Cluster
from tests.machines.hosts import why_not

Figures = dict[str, float]
CUT_SECONDS = 20.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cut-seconds", type=float, default=CUT_SECONDS, help="of a link's cut")
    parser.addoption(
        "--write-results", action="store_true", help="write benchmarks/results/machines.json"
    )


@pytest.fixture(scope="session")
def cut_seconds(request: pytest.FixtureRequest) -> float:
    return float(request.config.getoption("cut_seconds", CUT_SECONDS))


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> Iterator[Figures]:
    """Flat: name -> number. Printed at the end, and written if that was asked for."""
    found: Figures = {}
    yield found
    width = max(map(len, found), default=0)
    lines = [f"  {name:<{width}}  {value:g}" for name, value in found.items()]
    if request.config.getoption("write_results", default=False):
        lines.append(str(write_results("machines", found, "make test-machines")))
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    assert reporter is not None
    reporter.write_line("\n".join(["", *lines]))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    folder: Path = tmp_path_factory.mktemp("model")
    with Cluster(folder) as started:
        yield started
