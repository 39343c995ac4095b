"""One example run for all tests that only look at it."""

import pytest
from tests.reporting.example_run import write_example_run

from distrl.runs.run_directory import RunDirectory


@pytest.fixture(scope="session")
def example_run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return write_example_run(tmp_path_factory.mktemp("runs"))
