"""Ports of emulators: a pair is given out once, and free again when it is released."""

from __future__ import annotations

import socket

import pytest

from distrl.devices.emulator.emulator_ports import GRPC_ABOVE, EmulatorPorts
from distrl.errors import InvalidSetting

FIRST, LAST = 5660, 5662  # two pairs, of the range that tests use


def test_pairs_differ_and_are_free_again_after_release() -> None:
    ports = EmulatorPorts(FIRST, LAST)
    pairs = [ports.reserve(), ports.reserve()]
    try:
        assert {pair.console for pair in pairs} == {FIRST, LAST}
        assert all(pair.adb == pair.console + 1 for pair in pairs)
        assert all(pair.grpc == pair.console + GRPC_ABOVE for pair in pairs)
        with pytest.raises(InvalidSetting, match="are taken"):
            EmulatorPorts(FIRST, LAST).reserve()
    finally:
        for pair in pairs:
            pair.release()
    pair = ports.reserve()
    pair.release()
    assert pair.console == FIRST


def test_a_port_that_another_program_listens_on_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", FIRST + 1))
        taken.listen()
        pair = EmulatorPorts(FIRST, LAST).reserve()
        pair.release()
    assert pair.console == LAST


@pytest.mark.parametrize(("first", "last"), [(5555, 5600), (5600, 5598), (5554, 6000)])
def test_ranges_that_the_emulator_does_not_accept_are_refused(first: int, last: int) -> None:
    with pytest.raises(InvalidSetting, match="even console ports"):
        EmulatorPorts(first, last)
