"""A random agent on the phone through OpenEnv. Needs `pip install 'distrl[openenv]'`, and a server:

python -m distrl.environments.openenv_server --port 8000     (in another terminal)
python examples/openenv_agent.py http://127.0.0.1:8000 clock.turn_off_alarm/train/3
"""

import argparse
import random
from typing import Any


def play(address: str, task: str, seed: int = 0) -> tuple[float, int]:
    """Tap something on every screen until the episode is over; the reward, and the steps."""
    from openenv import GenericEnvClient

    rng = random.Random(seed)
    with GenericEnvClient(base_url=address).sync() as phone:
        seen = phone.reset(task=task)
        screen = seen.observation["text"]
        while not seen.done:
            numbers = [line for line in screen.splitlines() if line.startswith("[")]
            seen = phone.step(call("tap", element=rng.randrange(len(numbers))))
            screen = seen.observation["result"]["data"]
        return seen.reward, phone.state()["step_count"]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "call_tool", "tool_name": tool, "arguments": arguments}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="of the server, such as http://127.0.0.1:8000")
    parser.add_argument("task", help="such as clock.turn_off_alarm/train/3")
    given = parser.parse_args()
    reward, steps = play(given.address, given.task)
    print(f"reward {reward:g} after {steps} steps")
