"""Runs for all tests that only look at them."""

from pathlib import Path

import pytest
from tests.view.made_up_run import write_run

from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs that differ in their seed."""
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder, "small", seed=0)
    write_run(folder, "other", seed=1)
    return folder


@pytest.fixture
def resources(runs: Path) -> Resources:
    return Resources(RunCatalogue.at(runs))
