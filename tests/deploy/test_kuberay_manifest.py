"""The manifest for Kubernetes fits KubeRay's schema, and keeps what our documents promise of it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from distrl.engine.ray.cluster.node import HEALTH

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / "deploy/kuberay/cluster.yaml"
SCHEMA = json.loads((Path(__file__).parent / "kuberay_schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
Part = dict[str, Any]


@pytest.fixture
def parts() -> dict[str, Part]:
    documents = yaml.safe_load_all(MANIFEST.read_text("utf-8"))
    return {document["kind"]: document for document in documents}


@pytest.fixture
def spec(parts: dict[str, Part]) -> Part:
    found: Part = parts["RayCluster"]["spec"]
    return found


def groups(spec: Part) -> list[Part]:
    return [spec["headGroupSpec"], *spec["workerGroupSpecs"]]


def container(group: Part) -> Part:
    [only] = group["template"]["spec"]["containers"]
    found: Part = only
    return found


def test_every_part_fits_the_schema(parts: dict[str, Part]) -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert set(parts) == {"RayCluster", "PersistentVolumeClaim", "NetworkPolicy"}
    for part in parts.values():
        VALIDATOR.validate(part)


def misspell(spec: Part) -> None:
    spec["authOption"] = spec.pop("authOptions")


def number_for_text(spec: Part) -> None:
    spec["headGroupSpec"]["rayStartParams"]["num-cpus"] = 0


def no_template(spec: Part) -> None:
    del spec["workerGroupSpecs"][0]["template"]


def another_mode(spec: Part) -> None:
    spec["authOptions"]["mode"] = "on"


def image_without_version(spec: Part) -> None:
    container(spec["headGroupSpec"])["image"] = "distrl"


def two_kinds_of_volume(spec: Part) -> None:
    spec["headGroupSpec"]["template"]["spec"]["volumes"][0]["emptyDir"] = {}


@pytest.mark.parametrize(
    "slip",
    [
        misspell,
        number_for_text,
        no_template,
        another_mode,
        image_without_version,
        two_kinds_of_volume,
    ],
)
def test_a_slip_is_seen(parts: dict[str, Part], slip: Callable[[Part], None]) -> None:
    broken = copy.deepcopy(parts["RayCluster"])
    slip(broken["spec"])
    assert not VALIDATOR.is_valid(broken)


def test_nobody_comes_in_without_the_token(parts: dict[str, Part], spec: Part) -> None:
    assert spec["authOptions"]["mode"] == "token"
    assert spec["headGroupSpec"]["serviceType"] == "ClusterIP"
    names = [each["name"] for group in groups(spec) for each in container(group).get("env", [])]
    assert not [name for name in names if "TOKEN" in name or "AUTH" in name]
    policy = parts["NetworkPolicy"]["spec"]
    ours = {"matchLabels": {"ray.io/cluster": parts["RayCluster"]["metadata"]["name"]}}
    assert policy["podSelector"] == ours
    assert policy["ingress"] == [{"from": [{"podSelector": ours}]}]


def test_every_node_has_the_same_image_and_the_ray_that_was_tested(spec: Part) -> None:
    assert len({container(group)["image"] for group in groups(spec)}) == 1
    [tested] = re.findall(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
    assert spec["rayVersion"] == tested


def test_dead_nodes_are_noticed_as_soon_as_by_our_launcher(spec: Part) -> None:
    told = {each["name"]: each["value"] for each in container(spec["headGroupSpec"])["env"]}
    assert told == HEALTH


def test_there_are_phones_and_a_gpu_to_place_by(spec: Part) -> None:
    learner, phones = spec["workerGroupSpecs"]
    assert container(learner)["resources"]["limits"]["nvidia.com/gpu"] == "1"
    # a JSON text within quotes, for KubeRay writes it into a shell command as it is
    assert json.loads(json.loads(phones["rayStartParams"]["resources"])) == {"phone": 8}


def test_every_volume_that_is_mounted_is_there(parts: dict[str, Part], spec: Part) -> None:
    claim = parts["PersistentVolumeClaim"]["metadata"]["name"]
    for group in groups(spec):
        volumes = {each["name"]: each for each in group["template"]["spec"]["volumes"]}
        assert {mount["name"] for mount in container(group)["volumeMounts"]} == set(volumes)
        claims = [
            v["persistentVolumeClaim"]["claimName"]
            for v in volumes.values()
            if len(v) == 2 and "persistentVolumeClaim" in v
        ]
        assert set(claims) <= {claim}
