"""Runs on three hosts that share nothing: links are cut, hosts come, go, and never return.

Tests share the cluster and leave it whole, in the order of this file; the last ones turn hosts off.
"""

from __future__ import annotations

import re
import time

import pytest
from tests.machines.cluster import PATIENCE, PHONES, Cluster, ClusterRun
from tests.machines.conftest import Figures
from tests.machines.hosts import Command, Host, wait_until

from distrl.devices.adb.android_tools import find_tool

pytestmark = [pytest.mark.machines, pytest.mark.timeout(1800)]
ONE_TOO_MANY = ("collection.collectors=3", "devices.count=6")  # a collector waits for a host
LINES = 3  # that an error may take on a wide terminal
LONG_CUT = pytest.param(300.0, marks=pytest.mark.slow, id="minutes")


def check_nothing_lost(run: ClusterRun, before: list[str], figures: Figures, name: str) -> None:
    """What was logged before `name` happened is still there, and no run has begun anew."""
    lost = set(before) - set(run.episodes())
    figures[f"{name}_lost"] = len(lost)
    restarted = run.figure("trajectories") < len(before)
    figures[f"{name}_silent_restarts"] = int(restarted)
    assert not lost
    assert not restarted
    assert "Traceback" not in run.command.said()


def cut_and_mend(
    run: ClusterRun, host: Host, cluster: Cluster, seconds: float, figures: Figures, kind: str
) -> None:
    """The run goes on after the cut, with a collector on each host that has phones."""
    before = run.episodes()
    host.cut()
    time.sleep(seconds)  # the length of the cut, not an order of events
    host.mend()
    name = f"cut_{seconds:g}s_{kind}"
    figures[f"{name}_went_on"] = 0
    back = run.wait_for_episodes(2, cluster.anna, cluster.cecilia, seconds=2 * PATIENCE)
    figures[f"{name}_went_on"] = 1
    figures[f"{name}_seconds_until_collectors_are_back"] = round(back, 1)
    check_nothing_lost(run, before, figures, name)
    for each in cluster.nodes:
        cluster.wait_for_node(each)


def test_a_wrong_token_is_refused_in_one_sentence(cluster: Cluster, figures: Figures) -> None:
    figures["wrong_token_refused"] = 0
    wrong = {"RAY_AUTH_TOKEN": "0" * 48}
    for words in (
        ("cluster", "join", cluster.head),
        ("train", "--engine", "ray", "--address", "auto"),
    ):
        refused = cluster.cecilia.distrl(*words, environment=wrong)
        assert refused.wait(PATIENCE) == 2
        assert "TokenRefused" in refused.said()
        assert len(refused.said().splitlines()) <= LINES
        figures["wrong_token_refused"] += 1


def test_a_run_across_hosts_ends_with_its_result(cluster: Cluster) -> None:
    run = cluster.train(cluster.anna, "run.trajectories=8")
    assert run.command.wait(2 * PATIENCE) == 0, run.command.said()
    assert re.search(r"\d+ trajectories and \d+ updates in ", run.sentences())
    assert (run.directory() / "result.json").exists()
    assert len(run.episodes()) >= 8
    for place in (cluster.anna, cluster.cecilia):
        assert f"is on {place.address}/" in run.sentences()


@pytest.mark.parametrize("kind", ["phones", "learner", "head_and_command"])
@pytest.mark.parametrize("long", [None, LONG_CUT])
def test_a_run_goes_on_after_a_cut(
    cluster: Cluster, cut_seconds: float, figures: Figures, kind: str, long: float | None
) -> None:
    hosts = {
        "phones": cluster.cecilia,
        "learner": cluster.bertil,
        "head_and_command": cluster.anna,
    }
    run = cluster.run_from(cluster.anna)
    run.wait_for_episodes(2, cluster.anna, cluster.cecilia)
    cut_and_mend(run, hosts[kind], cluster, long or cut_seconds, figures, kind)


@pytest.mark.parametrize("kind", ["command", "head"])
@pytest.mark.parametrize("long", [None, LONG_CUT])
def test_a_command_that_was_dropped_joins_again_and_resumes(
    cluster: Cluster, cut_seconds: float, figures: Figures, kind: str, long: float | None
) -> None:
    host = {"command": cluster.cecilia, "head": cluster.anna}[kind]
    run = cluster.run_from(cluster.cecilia)
    run.wait_for_episodes(2, cluster.anna, cluster.cecilia)
    cut_and_mend(run, host, cluster, long or cut_seconds, figures, kind)
    assert "this machine was cut off from the cluster" in run.command.said()


def test_policy_servers_on_both_hosts_with_phones(cluster: Cluster, figures: Figures) -> None:
    cluster.end_run()
    settings = ("engine.policy=node", "engine.server_gpus=0", "run.trajectories=8")
    run = cluster.train(cluster.anna, *settings)
    assert run.command.wait(2 * PATIENCE) == 0, run.command.said()[-4000:]
    for host in (cluster.anna, cluster.cecilia):
        assert re.search(rf"server-\d\.\d is on {host.address}/", run.sentences()), run.sentences()
    figures["policy_servers_on_two_hosts_trajectories"] = len(run.episodes())
    assert len(run.episodes()) >= 8


def serve_phones(host: Host) -> Command:
    """Two simulated phones on the host's adb."""
    serving = host.distrl("phone", "serve", "--phones", "2")
    wait_until(lambda: "127.0.0.1:7412" in serving.said(), PATIENCE, serving.said)
    for port in (7411, 7412):
        host.run(str(find_tool("adb")), "connect", f"127.0.0.1:{port}")
    return serving


def test_adb_phones_on_two_hosts(cluster: Cluster, figures: Figures) -> None:
    cluster.end_run()
    served = [serve_phones(host) for host in (cluster.anna, cluster.cecilia)]
    run = cluster.train(cluster.anna, "devices.kind=adb", "run.trajectories=6")
    assert run.command.wait(2 * PATIENCE) == 0, run.command.said()[-4000:]
    figures["adb_on_two_hosts_trajectories"] = len(run.episodes())
    assert len(run.episodes()) >= 6
    for host in (cluster.anna, cluster.cecilia):
        assert f"is on {host.address}/" in run.sentences()
    for each in served:
        each.interrupt()
        each.wait(PATIENCE)


def test_a_host_that_joins_late_gets_a_collector_and_one_that_never_returns_ends_nothing(
    cluster: Cluster, figures: Figures
) -> None:
    run = cluster.run_from(cluster.anna, *ONE_TOO_MANY)
    run.wait_for_episodes(2, cluster.anna, cluster.cecilia)
    dora = cluster.host("dora")
    cluster.join(dora, PHONES)
    cluster.wait_for_node(dora)
    figures["late_host_seconds_until_its_collector_plays"] = round(
        run.wait_for_episodes(1, dora), 1
    )
    before = run.episodes()
    dora.kill()
    del cluster.nodes[dora]
    figures["phones_host_gone_for_good_went_on"] = 0
    run.wait_for_episodes(4, cluster.anna, cluster.cecilia)
    check_nothing_lost(run, before, figures, "phones_host_gone_for_good")
    figures["phones_host_gone_for_good_went_on"] = 1


def test_the_learners_host_never_returns_and_the_run_goes_on_from_its_copy(
    cluster: Cluster, figures: Figures
) -> None:
    run, copy = cluster.run_from(cluster.anna, *ONE_TOO_MANY), cluster.anna
    run.wait_for_episodes(2, cluster.anna, cluster.cecilia)
    wait_until(
        lambda: f"a copy of the run is kept on anna ({copy.address})" in run.sentences(),
        PATIENCE,
        run.sentences,
    )
    known = len(run.episodes(copy))
    wait_until(lambda: len(run.episodes(copy)) > known, PATIENCE, lambda: "the copy is kept up")
    logged = len(run.episodes())
    cluster.bertil.kill()
    del cluster.nodes[cluster.bertil]
    wait_until(lambda: "the learner's node bertil" in run.sentences(), PATIENCE, run.sentences)
    assert run.end() == 2
    last = run.sentences().splitlines()[-1]
    assert last.startswith("LearnerGone: ")
    assert f"distrl train --resume {run.path}; from the copy on anna" in last

    copied = run.episodes(copy)
    refused = cluster.resume(cluster.anna, run.path, learner=copy)
    assert refused.command.wait(PATIENCE) == 2
    assert re.search(
        r"DataLost: .* is a copy on anna .*, of the run on bertil", refused.sentences()
    )
    assert run.episodes(copy) == copied

    begun = time.monotonic()
    resumed = cluster.resume(cluster.anna, run.path, "--accept-losses", learner=copy)
    resumed.wait_for_episodes(len(copied) + 1, cluster.anna, cluster.cecilia)
    figures["learner_host_gone_for_good_seconds_until_collectors_are_back"] = round(
        time.monotonic() - begun, 1
    )
    figures["learner_host_gone_for_good_trajectories_after_the_copy"] = logged - len(copied)
    assert resumed.episodes()[: len(copied)] == copied
    assert resumed.figure("update") > 0
    resumed.end()
