"""How each dialect looks, letter by letter, and what becomes of what it cannot say."""

from __future__ import annotations

import json

import pytest

from distrl import records as r
from distrl.agent.dialects import dialect_named
from distrl.agent.dialects.aitw import decision
from distrl.agent.dialects.dialect import ImageSize

PICTURE = ImageSize(1092, 2408)
SWIPE = r.Swipe(0.5, 0.8, 0.5, 0.25)
NOWHERE = "[-1.0, -1.0]"


def _box(x: int, y: int) -> str:
    return f"'<|box_start|>({x},{y})<|box_end|>'"


def _aitw(kind: str, touch: str = NOWHERE, lift: str = NOWHERE, text: str = "") -> str:
    """As Auto-UI prints it; points have y first."""
    points = f'"touch_point": "{touch}", "lift_point": "{lift}"'
    return (
        f'Action Plan: [{kind}] ; Action Decision: "action_type": "{kind}", {points}, '
        f'"typed_text": "{text}"'
    )


FORMS: dict[str, list[tuple[r.Action, str]]] = {
    "compact": [
        (r.Tap(0.49, 0.56), "<tap><17,40>"),
        (SWIPE, "<swipe><18,57><18,18>"),
        (r.Wait(), "<wait>"),
        (r.Wait(5.0), "<wait>5"),
    ],
    "android_world": [
        (r.Tap(0.5, 0.25), '{"action_type":"click","x":546,"y":602}'),
        (r.LongPress(1.0, 1.0), '{"action_type":"long_press","x":1091,"y":2407}'),
        (SWIPE, '{"action_type":"scroll","direction":"down"}'),
        (r.TypeText('a, "b" 😀'), '{"action_type":"input_text","text":"a, \\"b\\" 😀"}'),
        (r.OpenApp("Clock"), '{"action_type":"open_app","app_name":"Clock"}'),
        (r.Answer("42"), '{"action_type":"answer","text":"42"}'),
        (r.Back(), '{"action_type":"navigate_back"}'),
        (r.Home(), '{"action_type":"navigate_home"}'),
        (r.Enter(), '{"action_type":"keyboard_enter"}'),
        (r.Wait(7.0), '{"action_type":"wait"}'),
        (r.Done(), '{"action_type":"status","goal_status":"complete"}'),
        (r.Impossible(), '{"action_type":"status","goal_status":"infeasible"}'),
    ],
    "ui_tars_1_5": [
        (r.Tap(0.5, 0.25), "Action: click(start_box='<|box_start|>(546,602)<|box_end|>')"),
        (
            r.LongPress(0.5, 0.25),
            "Action: long_press(start_box='<|box_start|>(546,602)<|box_end|>')",
        ),
        (SWIPE, f"Action: drag(start_box={_box(546, 1926)}, end_box={_box(546, 602)})"),
        (r.TypeText('it\'s\n"ok"'), r"""Action: type(content='it\'s\n\"ok\"')"""),
        (r.OpenApp("Clock"), "Action: open_app(app_name='Clock')"),
        (r.Enter(), "Action: press_enter()"),
        (r.Wait(7.0), "Action: wait()"),
        (r.Answer("42"), "Action: finished(content='42')"),
        (r.Done(), "Action: finished()"),
        (r.Impossible(), "Action: call_user()"),
    ],
    "ui_tars": [(r.Tap(0.5, 0.25), "Action: click(start_box='<|box_start|>(500,250)<|box_end|>')")],
    "autoglm": [
        (r.Tap(0.5, 1.0), '<answer>do(action="Tap", element=[500,999])</answer>'),
        (r.LongPress(0.5, 0.25), '<answer>do(action="Long Press", element=[500,250])</answer>'),
        (SWIPE, '<answer>do(action="Swipe", start=[500,800], end=[500,250])</answer>'),
        (r.TypeText('"好"\n'), '<answer>do(action="Type", text="\\"好\\"\\n")</answer>'),
        (r.OpenApp("Clock"), '<answer>do(action="Launch", app="Clock")</answer>'),
        (r.Wait(2.5), '<answer>do(action="Wait", duration="2.5 seconds")</answer>'),
        (r.Back(), '<answer>do(action="Back")</answer>'),
        (r.Answer("42"), '<answer>finish(message="42")</answer>'),
        (r.Done(), '<answer>finish(message="")</answer>'),
        (r.Impossible(), '<answer>do(action="Take_over", message="")</answer>'),
    ],
    "aitw": [
        (r.Tap(0.1245, 0.2463), _aitw("DUAL_POINT", "[0.2463, 0.1245]", "[0.2463, 0.1245]")),
        (SWIPE, _aitw("DUAL_POINT", "[0.8, 0.5]", "[0.25, 0.5]")),
        (r.Tap(0.0001, 1.0), _aitw("DUAL_POINT", "[1.0, 0.0001]", "[1.0, 0.0001]")),
        (r.TypeText("milk, eggs"), _aitw("TYPE", text="milk, eggs")),
        (r.Back(), _aitw("PRESS_BACK")),
        (r.Done(), _aitw("STATUS_TASK_COMPLETE")),
        (r.Impossible(), _aitw("STATUS_TASK_IMPOSSIBLE")),
        (r.Wait(7.0), _aitw("IDLE")),
        (r.OpenApp("Clock"), _aitw("PRESS_HOME")),
    ],
}


def _forms() -> list[tuple[str, r.Action, str]]:
    return [(name, action, form) for name, forms in FORMS.items() for action, form in forms]


@pytest.mark.parametrize(("name", "action", "form"), _forms())
def test_a_written_form(name: str, action: r.Action, form: str) -> None:
    assert dialect_named(name).write(action, PICTURE) == form


@pytest.mark.parametrize(
    ("name", "action", "arguments"),
    [
        ("qwen2_5_vl", r.Tap(0.5, 0.25), '{"action": "click", "coordinate": [546, 602]}'),
        ("qwen2_5_vl", r.Tap(1.0, 1.0), '{"action": "click", "coordinate": [1091, 2407]}'),
        ("qwen3_vl", r.Tap(0.5, 1.0), '{"action": "click", "coordinate": [500, 999]}'),
        ("qwen3_vl", r.Tap(0.0, 0.25), '{"action": "click", "coordinate": [0, 250]}'),
        (
            "qwen3_vl",
            r.LongPress(0.5, 0.5),
            '{"action": "long_press", "coordinate": [500, 500], "time": 1}',
        ),
        (
            "qwen2_5_vl",
            SWIPE,
            '{"action": "swipe", "coordinate": [546, 1926], "coordinate2": [546, 602]}',
        ),
        ("qwen3_vl", r.TypeText("“a”\n"), '{"action": "type", "text": "“a”\\n"}'),
        ("qwen3_vl", r.OpenApp("Clock"), '{"action": "open", "text": "Clock"}'),
        ("qwen3_vl", r.Answer("42"), '{"action": "answer", "text": "42"}'),
        ("qwen3_vl", r.Enter(), '{"action": "system_button", "button": "Enter"}'),
        ("qwen3_vl", r.Wait(2.0), '{"action": "wait", "time": 2}'),
        ("qwen3_vl", r.Wait(0.5), '{"action": "wait", "time": 0.5}'),
        ("qwen3_vl", r.Done(), '{"action": "terminate", "status": "success"}'),
        ("qwen3_vl", r.Impossible(), '{"action": "terminate", "status": "failure"}'),
    ],
)
def test_a_tool_call(name: str, action: r.Action, arguments: str) -> None:
    form = f'<tool_call>\n{{"name": "mobile_use", "arguments": {arguments}}}\n</tool_call>'
    assert dialect_named(name).write(action, PICTURE) == form
    json.loads(form.removeprefix("<tool_call>").removesuffix("</tool_call>"))


@pytest.mark.parametrize(
    ("name", "action", "back"),
    [
        ("aitw", r.LongPress(0.5, 0.25), r.Tap(0.5, 0.25)),
        ("aitw", r.Swipe(0.5, 0.5, 0.5, 0.46), r.Tap(0.5, 0.5)),
        ("aitw", r.Swipe(0.5, 0.5, 0.5, 0.4599), r.Swipe(0.5, 0.5, 0.5, 0.4599)),
        ("aitw", r.OpenApp("Clock"), r.Home()),
        ("aitw", r.Wait(7.0), r.Wait()),
        ("aitw", r.Answer("42"), r.Answer("42")),
        ("aitw", r.Answer(""), r.Done()),
        ("android_world", r.Swipe(0.9, 0.4, 0.2, 0.5), r.Swipe(0.5, 0.5, 0.0, 0.5)),
        ("android_world", r.Wait(7.0), r.Wait()),
        ("ui_tars", r.Wait(7.0), r.Wait(5.0)),
        ("ui_tars", r.Answer(""), r.Done()),
        ("autoglm", r.Answer(""), r.Done()),
        ("autoglm", r.Swipe(0.5, 0.5, 0.5, 0.4, seconds=2.0), r.Swipe(0.5, 0.5, 0.5, 0.4)),
        ("qwen3_vl", r.Swipe(0.0, 1.0, 0.0, 0.0, seconds=2.0), r.Swipe(0.0, 1.0, 0.0, 0.0)),
    ],
)
def test_what_a_dialect_cannot_say_comes_back_as_the_nearest(
    name: str, action: r.Action, back: r.Action
) -> None:
    assert dialect_named(name).read(dialect_named(name).write(action, PICTURE), PICTURE) == back


def test_auto_ui_is_told_of_past_actions_without_a_plan() -> None:
    assert decision(r.Back()).startswith(
        '"action_type": "PRESS_BACK", "touch_point": "[-1.0, -1.0]"'
    )
    for action in (r.Tap(0.1, 0.2), r.TypeText("a"), r.Done(), r.Impossible(), r.Enter(), r.Home()):
        assert (
            dialect_named("aitw")
            .write(action, PICTURE)
            .endswith(f"Action Decision: {decision(action)}")
        )
        assert dialect_named("aitw").read(decision(action), PICTURE) == action


def test_android_world_swipes_as_android_world_does() -> None:
    """Its `swipe` is the other way round from its `scroll`, but only for up and down."""
    fingers = {
        direction: dialect_named("android_world").read(
            json.dumps({"action_type": "swipe", "direction": direction}), PICTURE
        )
        for direction in ("up", "down", "left", "right")
    }
    assert fingers == {
        "up": r.Swipe(0.5, 1.0, 0.5, 0.0, seconds=0.5),
        "down": r.Swipe(0.5, 0.0, 0.5, 1.0, seconds=0.5),
        "left": r.Swipe(0.0, 0.5, 1.0, 0.5, seconds=0.5),
        "right": r.Swipe(1.0, 0.5, 0.0, 0.5, seconds=0.5),
    }


def test_the_tool_is_described_as_json() -> None:
    for name, units in (("qwen2_5_vl", "pixels of the picture"), ("qwen3_vl", "0 to 999")):
        told = dialect_named(name).instructions
        tool = json.loads(told[told.index("<tools>") + 7 : told.index("</tools>")])
        properties = tool["function"]["parameters"]["properties"]
        assert tool["function"]["name"] == "mobile_use"
        assert set(properties) >= {"action", "coordinate", "coordinate2", "text", "status"}
        assert units in properties["coordinate"]["description"]
        assert {"key", "ask_user"} < set(properties["action"]["enum"])  # they are read, so told
