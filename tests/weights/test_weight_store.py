"""Weights arrive whole and in order, whoever is killed on the way; damage is seen and passed by."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from distrl.agent.weight_view import view_weights
from distrl.errors import CorruptWeights, InvalidSetting, StorageError, UsageError
from distrl.learning.learner import Publisher
from distrl.weights.weight_file import check_weights
from distrl.weights.weight_store import LATEST, WeightStore


def weights(number: float, size: int = 4) -> dict[str, torch.Tensor]:
    return {"head.weight": torch.full((2, size), number), "head.bias": torch.full((2,), -number)}


def raw(tensor: torch.Tensor) -> list[int]:
    numbers: list[int] = tensor.detach().contiguous().reshape(-1).view(torch.uint8).tolist()
    return numbers


def file_of(store: WeightStore, version: int) -> Path:
    [path] = store.directory.glob(f"weights-{version:09d}-*")
    return path


def versions(store: WeightStore) -> list[int]:
    """Those whose files are there, oldest first."""
    return sorted(int(path.name.split("-")[1]) for path in store.directory.glob("weights-*"))


# There and back -----------------------------------------------------------------------------------


def test_what_is_published_is_loaded(tmp_path: Path) -> None:
    store = WeightStore(tmp_path / "run" / "weights")
    assert store.latest_version() is None
    store.publish(weights(1.5), 3)
    assert store.latest_version() == 3
    loaded, version = WeightStore(tmp_path / "run" / "weights").load()
    assert version == 3
    assert loaded.keys() == weights(1.5).keys()
    assert all(torch.equal(loaded[name], each) for name, each in weights(1.5).items())


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8,
     torch.bool, torch.float8_e4m3fn],
    ids=str,
)  # fmt: skip
def test_every_kind_of_number_comes_back_bit_for_bit(tmp_path: Path, dtype: torch.dtype) -> None:
    grid = torch.arange(24).reshape(4, 6)
    given = {
        "a grid": grid.to(dtype),
        "turned": grid.to(dtype).T,
        "every other": grid.to(dtype)[:, ::2],
        "one number": torch.tensor(1).to(dtype),
        "nothing": torch.zeros(0, 3).to(dtype),
        "learned": torch.nn.Parameter(grid.to(dtype), requires_grad=dtype.is_floating_point),
        "of another width": torch.tensor([True]),
    }
    store = WeightStore(tmp_path)
    store.publish(given, 1)
    for loaded in (store.load().weights, load_file(file_of(store, 1))):
        assert loaded.keys() == given.keys()
        for name, each in given.items():
            assert (loaded[name].dtype, loaded[name].shape) == (each.dtype, each.shape)
            assert raw(loaded[name]) == raw(each)


def test_tensors_lie_where_their_numbers_can_be_read_in_place(tmp_path: Path) -> None:
    store = WeightStore(tmp_path)
    store.publish({"a": torch.ones(3, dtype=torch.bool), "b": torch.ones(1), "c": torch.ones(3)}, 0)
    data = file_of(store, 0).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    starts = {name: 8 + length + header[name]["data_offsets"][0] for name in "abc"}
    assert starts["b"] % 4 == starts["c"] % 4 == 0
    assert header["__metadata__"]["format"] == "pt"


def test_the_learner_publishes_to_it(tmp_path: Path) -> None:
    publisher: Publisher = WeightStore(tmp_path)
    publisher.publish(weights(1.0), 1)
    assert WeightStore(tmp_path).latest_version() == 1


def test_arrays_of_numpy_without_torch(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, framework="np")
    grid = np.arange(6.0).reshape(2, 3)
    store.publish({"a": grid, "b": grid.astype(">f4").T, "c": np.full((), 7.0)}, 0)
    loaded = store.load().weights
    np.testing.assert_array_equal(loaded["a"], grid)
    np.testing.assert_array_equal(loaded["b"], grid.T)
    assert loaded["c"] == 7.0
    code = (
        "import sys; from pathlib import Path; from distrl.weights.weight_store import WeightStore;"
        "print(WeightStore(Path(sys.argv[1]), framework='np').load().weights['a'].sum());"
        "assert 'torch' not in sys.modules"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"15.0\n"
    with pytest.raises(UsageError, match="tensor a is of complex128; safetensors have float64"):
        store.publish({"a": np.ones(1, complex)}, 1)
    assert store.latest_version() == 0


def test_adapters_say_what_they_belong_to(tmp_path: Path) -> None:
    for base, kind in (("qwen-vl-7b", "adapters"), ("", "full")):
        store = WeightStore(tmp_path / kind, base=base)
        store.publish(weights(1.0), 1)
        with safe_open(file_of(store, 1), framework="pt") as opened:
            assert opened.metadata()["kind"] == kind
            assert opened.metadata()["base"] == base


# Versions -----------------------------------------------------------------------------------------


def test_the_newest_version_can_be_sent_as_bytes(tmp_path: Path) -> None:
    store = WeightStore(tmp_path)
    assert store.packed() is None
    store.publish(weights(1.5), 3)
    store.publish(weights(2.5), 4)
    packed = store.packed()
    assert packed is not None
    assert packed.version == 4
    check_weights(packed.content, packed.digest)
    found = view_weights(np.frombuffer(packed.content, np.uint8))
    assert np.array_equal(found["head.weight"], weights(2.5)["head.weight"])
    for place in (0, len(packed.content) // 2, len(packed.content) - 1):
        changed = bytearray(packed.content)
        changed[place] ^= 1
        with pytest.raises(CorruptWeights, match="damaged on the way"):
            check_weights(bytes(changed), packed.digest)


def test_what_is_to_be_sent_stays_as_it_is_though_its_file_goes_or_is_empty(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, keep=1)
    store.publish(weights(1.5), 3)
    packed = store.packed()
    assert packed is not None
    store.publish(weights(2.5), 4)  # the file of version 3 is removed
    check_weights(packed.content, packed.digest)
    file_of(store, 4).write_bytes(b"")
    emptied = store.packed()
    assert emptied is not None
    assert (emptied.version, len(emptied.content)) == (4, 0)


def test_a_newest_version_that_is_gone_is_passed_by_when_it_is_to_be_sent(tmp_path: Path) -> None:
    store = WeightStore(tmp_path)
    store.publish(weights(1.5), 3)
    store.publish(weights(2.5), 4)
    file_of(store, 4).unlink()
    packed = store.packed()
    assert packed is not None
    assert packed.version == 3


@pytest.mark.parametrize("version", [4, 5, -1])
def test_versions_only_grow(tmp_path: Path, version: int) -> None:
    WeightStore(tmp_path).publish(weights(5.0), 5)
    store = WeightStore(tmp_path)  # also after a restart
    with pytest.raises(UsageError, match=f"version {version} cannot follow version 5"):
        store.publish(weights(6.0), version)
    assert store.load().weights["head.weight"][0, 0] == 5.0
    with pytest.raises(UsageError, match="version -1 cannot follow"):
        WeightStore(tmp_path / "empty").publish(weights(1.0), -1)


def test_the_newest_few_stay(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, keep=3)
    for version in (0, 1, 2, 10, 1_000_000_000, 1_000_000_001):
        store.publish(weights(version), version)
    assert versions(store) == [10, 1_000_000_000, 1_000_000_001]
    assert store.latest_version() == 1_000_000_001
    assert len(list(tmp_path.iterdir())) == 4
    assert load_file(file_of(store, 10))["head.bias"][0] == -10.0
    with pytest.raises(InvalidSetting, match="keep=0"):
        WeightStore(tmp_path, keep=0)


def test_before_the_first_version(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing was published yet"):
        WeightStore(tmp_path / "nowhere").load()


def test_what_was_loaded_stays_when_its_version_leaves(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, keep=1)
    store.publish(weights(1.0, 100_000), 1)
    loaded = store.load().weights
    store.publish(weights(2.0, 100_000), 2)
    assert not list(tmp_path.glob("weights-000000001-*"))
    assert torch.equal(loaded["head.weight"], weights(1.0, 100_000)["head.weight"])


# Damage -------------------------------------------------------------------------------------------


def two_versions(directory: Path) -> tuple[WeightStore, Path]:
    store = WeightStore(directory)
    store.publish(weights(1.0), 1)
    store.publish(weights(2.0), 2)
    return store, file_of(store, 2)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": lambda path: path.write_bytes(b""),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_version_is_passed_by(tmp_path: Path, damage: str) -> None:
    store, path = two_versions(tmp_path)
    DAMAGE[damage](path)
    loaded = store.load()
    assert (loaded.version, loaded.weights["head.weight"][0, 0]) == (1, 1.0)
    assert list(store.damages) == [2]
    assert path.name in store.damages[2]
    assert store.latest_version() == 1  # nobody is sent for it again
    store.publish(weights(3.0), 3)
    assert (store.load().version, store.latest_version()) == (3, 3)
    with pytest.raises(UsageError, match="cannot follow version 3"):
        store.publish(weights(3.0), 2)


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    store, path = two_versions(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.unlink()
        path.write_bytes(bytes(changed))
        store.damages.clear()
        assert store.load().version == 1
        assert list(store.damages) == [2]


def test_nothing_whole_is_left(tmp_path: Path) -> None:
    store, path = two_versions(tmp_path)
    for each in (path, file_of(store, 1)):
        each.write_bytes(b"nonsense")
    with pytest.raises(CorruptWeights, match=r"weights-000000002-.*weights-000000001-"):
        store.load()
    assert store.latest_version() is None


@pytest.mark.parametrize("latest", [b"", b"{", b"[]", b"null", b"\xff", b'{"format": 1}', None])
def test_without_a_list_the_files_speak_for_themselves(
    tmp_path: Path, latest: bytes | None
) -> None:
    store, _ = two_versions(tmp_path)
    (tmp_path / LATEST).unlink()
    if latest is not None:
        (tmp_path / LATEST).write_bytes(latest)
    assert store.latest_version() == store.load().version == 2
    with pytest.raises(UsageError, match="cannot follow version 2"):
        store.publish(weights(2.0), 2)
    store.publish(weights(3.0), 3)
    assert versions(store) == [1, 2, 3]


def test_a_list_of_another_format_is_refused(tmp_path: Path) -> None:
    store, _ = two_versions(tmp_path)
    (tmp_path / LATEST).write_text(json.dumps({"format": 2, "kept": []}))
    with pytest.raises(CorruptWeights, match="is of format 2, this reads 1"):
        store.load()


LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np
from distrl.errors import StorageFull
from distrl.weights.weight_store import WeightStore

store = WeightStore(Path(sys.argv[1]), framework="np")
store.publish({"a": np.ones(10)}, 1)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
for limit in (10_000, 1_000, 10):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    try:
        store.publish({"a": np.ones(10_000)}, 2)
    except StorageFull as error:
        print(error)
    assert store.load().version == 1
    assert len(list(store.directory.iterdir())) == 2
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
store.publish({"a": np.ones(10_000)}, 2)
assert store.load().version == 2
"""


def test_no_space_leaves_the_version_before(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    for line in answer.stdout.splitlines():
        assert f"could not publish version 2 of the weights in {tmp_path}: File too large" in line
    assert len(answer.stdout.splitlines()) == 3


def test_what_could_not_be_announced_was_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = WeightStore(tmp_path)
    store.publish(weights(1.0), 1)
    waits = []

    def fails_at_the_third(file: int) -> None:
        waits.append(file)  # the file itself, the names, and then the list
        if len(waits) == 3:
            raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", fails_at_the_third)
        with pytest.raises(StorageError, match=r"could not publish version 2 .*Input/output error"):
            store.publish(weights(2.0), 2)
    assert WeightStore(tmp_path).load().version == 1
    store.publish(weights(2.5), 2)
    assert store.load().weights["head.weight"][0, 0] == 2.5
    assert len(list(tmp_path.iterdir())) == 3


PUBLISH = """
import sys
from pathlib import Path
import numpy as np
from distrl.weights.weight_store import WeightStore

store = WeightStore(Path(sys.argv[1]), keep=2)
version = store.latest_version() or 0
while True:
    version += 1
    store.publish({str(n): np.full(40_000, version, np.float32) for n in range(4)}, version)
    print(version, flush=True)
"""


def test_publishers_killed_and_readers_in_between(tmp_path: Path) -> None:
    """Whatever is loaded is whole and of one version, versions never go back, none is lost."""
    store = WeightStore(tmp_path, framework="np")
    newest = 0
    for kill in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", PUBLISH, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        with process:
            assert process.stdout
            published, goal = int(process.stdout.readline()), newest + 4
            while published < goal:
                loaded = store.load()
                assert all((each == loaded.version).all() for each in loaded.weights.values())
                assert loaded.version >= max(published, newest)
                newest = loaded.version
                published = int(process.stdout.readline())
            time.sleep(0.003 * kill)
            process.send_signal(signal.SIGKILL)
            published = max([published, *map(int, process.stdout)])
        assert store.load().version >= published
        newest = store.load().version
    assert newest >= 20
    assert store.damages == {}
    store.publish({"a": np.zeros(1)}, newest + 1)
    assert not list(tmp_path.glob(".*"))
