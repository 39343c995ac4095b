"""How each dialect looks, letter by letter, and what becomes of what it cannot say."""

from __future__ import annotations

import json

import pytest

from distrl.agent.action_language import dialect
from distrl.agent.dialects.aitw import decision
from distrl.agent.dialects.dialect import ImageSize
from distrl.records import (
    Action,
    Answer,
    Back,
    Done,
    Enter,
    Home,
    Impossible,
    LongPress,
    OpenApp,
    Swipe,
    Tap,
    TypeText,
    Wait,
)

PICTURE = ImageSize(1092, 2408)
SWIPE = Swipe(0.5, 0.8, 0.5, 0.25)
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


FORMS: dict[str, list[tuple[Action, str]]] = {
    "compact": [
        (Tap(0.49, 0.56), "<tap><17,40>"),
        (SWIPE, "<swipe><18,57><18,18>"),
        (Wait(), "<wait>"),
        (Wait(5.0), "<wait>5"),
    ],
    "android_world": [
        (Tap(0.5, 0.25), '{"action_type":"click","x":546,"y":602}'),
        (LongPress(1.0, 1.0), '{"action_type":"long_press","x":1091,"y":2407}'),
        (SWIPE, '{"action_type":"scroll","direction":"down"}'),
        (TypeText('a, "b" 😀'), '{"action_type":"input_text","text":"a, \\"b\\" 😀"}'),
        (OpenApp("Clock"), '{"action_type":"open_app","app_name":"Clock"}'),
        (Answer("42"), '{"action_type":"answer","text":"42"}'),
        (Back(), '{"action_type":"navigate_back"}'),
        (Home(), '{"action_type":"navigate_home"}'),
        (Enter(), '{"action_type":"keyboard_enter"}'),
        (Wait(7.0), '{"action_type":"wait"}'),
        (Done(), '{"action_type":"status","goal_status":"complete"}'),
        (Impossible(), '{"action_type":"status","goal_status":"infeasible"}'),
    ],
    "ui_tars_1_5": [
        (Tap(0.5, 0.25), "Action: click(start_box='<|box_start|>(546,602)<|box_end|>')"),
        (LongPress(0.5, 0.25), "Action: long_press(start_box='<|box_start|>(546,602)<|box_end|>')"),
        (SWIPE, f"Action: drag(start_box={_box(546, 1926)}, end_box={_box(546, 602)})"),
        (TypeText('it\'s\n"ok"'), r"""Action: type(content='it\'s\n\"ok\"')"""),
        (OpenApp("Clock"), "Action: open_app(app_name='Clock')"),
        (Enter(), "Action: press_enter()"),
        (Wait(7.0), "Action: wait()"),
        (Answer("42"), "Action: finished(content='42')"),
        (Done(), "Action: finished()"),
        (Impossible(), "Action: call_user()"),
    ],
    "ui_tars": [(Tap(0.5, 0.25), "Action: click(start_box='<|box_start|>(500,250)<|box_end|>')")],
    "autoglm": [
        (Tap(0.5, 1.0), '<answer>do(action="Tap", element=[500,999])</answer>'),
        (LongPress(0.5, 0.25), '<answer>do(action="Long Press", element=[500,250])</answer>'),
        (SWIPE, '<answer>do(action="Swipe", start=[500,800], end=[500,250])</answer>'),
        (TypeText('"好"\n'), '<answer>do(action="Type", text="\\"好\\"\\n")</answer>'),
        (OpenApp("Clock"), '<answer>do(action="Launch", app="Clock")</answer>'),
        (Wait(2.5), '<answer>do(action="Wait", duration="2.5 seconds")</answer>'),
        (Back(), '<answer>do(action="Back")</answer>'),
        (Answer("42"), '<answer>finish(message="42")</answer>'),
        (Done(), '<answer>finish(message="")</answer>'),
        (Impossible(), '<answer>do(action="Take_over", message="")</answer>'),
    ],
    "aitw": [
        (Tap(0.1245, 0.2463), _aitw("DUAL_POINT", "[0.2463, 0.1245]", "[0.2463, 0.1245]")),
        (SWIPE, _aitw("DUAL_POINT", "[0.8, 0.5]", "[0.25, 0.5]")),
        (Tap(0.0001, 1.0), _aitw("DUAL_POINT", "[1.0, 0.0001]", "[1.0, 0.0001]")),
        (TypeText("milk, eggs"), _aitw("TYPE", text="milk, eggs")),
        (Back(), _aitw("PRESS_BACK")),
        (Done(), _aitw("STATUS_TASK_COMPLETE")),
        (Impossible(), _aitw("STATUS_TASK_IMPOSSIBLE")),
        (Wait(7.0), _aitw("IDLE")),
        (OpenApp("Clock"), _aitw("PRESS_HOME")),
    ],
}


def _forms() -> list[tuple[str, Action, str]]:
    return [(name, action, form) for name, forms in FORMS.items() for action, form in forms]


@pytest.mark.parametrize(("name", "action", "form"), _forms())
def test_a_written_form(name: str, action: Action, form: str) -> None:
    assert dialect(name).write(action, PICTURE) == form


@pytest.mark.parametrize(
    ("name", "action", "arguments"),
    [
        ("qwen2_5_vl", Tap(0.5, 0.25), '{"action": "click", "coordinate": [546, 602]}'),
        ("qwen2_5_vl", Tap(1.0, 1.0), '{"action": "click", "coordinate": [1091, 2407]}'),
        ("qwen3_vl", Tap(0.5, 1.0), '{"action": "click", "coordinate": [500, 999]}'),
        ("qwen3_vl", Tap(0.0, 0.25), '{"action": "click", "coordinate": [0, 250]}'),
        (
            "qwen3_vl",
            LongPress(0.5, 0.5),
            '{"action": "long_press", "coordinate": [500, 500], "time": 1}',
        ),
        (
            "qwen2_5_vl",
            SWIPE,
            '{"action": "swipe", "coordinate": [546, 1926], "coordinate2": [546, 602]}',
        ),
        ("qwen3_vl", TypeText("“a”\n"), '{"action": "type", "text": "“a”\\n"}'),
        ("qwen3_vl", OpenApp("Clock"), '{"action": "open", "text": "Clock"}'),
        ("qwen3_vl", Answer("42"), '{"action": "answer", "text": "42"}'),
        ("qwen3_vl", Enter(), '{"action": "system_button", "button": "Enter"}'),
        ("qwen3_vl", Wait(2.0), '{"action": "wait", "time": 2}'),
        ("qwen3_vl", Wait(0.5), '{"action": "wait", "time": 0.5}'),
        ("qwen3_vl", Done(), '{"action": "terminate", "status": "success"}'),
        ("qwen3_vl", Impossible(), '{"action": "terminate", "status": "failure"}'),
    ],
)
def test_a_tool_call(name: str, action: Action, arguments: str) -> None:
    form = f'<tool_call>\n{{"name": "mobile_use", "arguments": {arguments}}}\n</tool_call>'
    assert dialect(name).write(action, PICTURE) == form
    json.loads(form.removeprefix("<tool_call>").removesuffix("</tool_call>"))


@pytest.mark.parametrize(
    ("name", "action", "back"),
    [
        ("aitw", LongPress(0.5, 0.25), Tap(0.5, 0.25)),
        ("aitw", Swipe(0.5, 0.5, 0.5, 0.46), Tap(0.5, 0.5)),
        ("aitw", Swipe(0.5, 0.5, 0.5, 0.4599), Swipe(0.5, 0.5, 0.5, 0.4599)),
        ("aitw", OpenApp("Clock"), Home()),
        ("aitw", Wait(7.0), Wait()),
        ("aitw", Answer("42"), Answer("42")),
        ("aitw", Answer(""), Done()),
        ("android_world", Swipe(0.9, 0.4, 0.2, 0.5), Swipe(0.5, 0.5, 0.0, 0.5)),
        ("android_world", Wait(7.0), Wait()),
        ("ui_tars", Wait(7.0), Wait(5.0)),
        ("ui_tars", Answer(""), Done()),
        ("autoglm", Answer(""), Done()),
        ("autoglm", Swipe(0.5, 0.5, 0.5, 0.4, seconds=2.0), Swipe(0.5, 0.5, 0.5, 0.4)),
        ("qwen3_vl", Swipe(0.0, 1.0, 0.0, 0.0, seconds=2.0), Swipe(0.0, 1.0, 0.0, 0.0)),
    ],
)
def test_what_a_dialect_cannot_say_comes_back_as_the_nearest(
    name: str, action: Action, back: Action
) -> None:
    assert dialect(name).read(dialect(name).write(action, PICTURE), PICTURE) == back


def test_auto_ui_is_told_of_past_actions_without_a_plan() -> None:
    assert decision(Back()).startswith('"action_type": "PRESS_BACK", "touch_point": "[-1.0, -1.0]"')
    for action in (Tap(0.1, 0.2), TypeText("a"), Done(), Impossible(), Enter(), Home()):
        assert (
            dialect("aitw").write(action, PICTURE).endswith(f"Action Decision: {decision(action)}")
        )
        assert dialect("aitw").read(decision(action), PICTURE) == action


def test_android_world_swipes_as_android_world_does() -> None:
    """Its `swipe` is the other way round from its `scroll`, but only for up and down."""
    fingers = {
        direction: dialect("android_world").read(
            json.dumps({"action_type": "swipe", "direction": direction}), PICTURE
        )
        for direction in ("up", "down", "left", "right")
    }
    assert fingers == {
        "up": Swipe(0.5, 1.0, 0.5, 0.0, seconds=0.5),
        "down": Swipe(0.5, 0.0, 0.5, 1.0, seconds=0.5),
        "left": Swipe(0.0, 0.5, 1.0, 0.5, seconds=0.5),
        "right": Swipe(1.0, 0.5, 0.0, 0.5, seconds=0.5),
    }


def test_the_tool_is_described_as_json() -> None:
    for name, units in (("qwen2_5_vl", "pixels of the picture"), ("qwen3_vl", "0 to 999")):
        told = dialect(name).instructions
        tool = json.loads(told[told.index("<tools>") + 7 : told.index("</tools>")])
        properties = tool["function"]["parameters"]["properties"]
        assert tool["function"]["name"] == "mobile_use"
        assert set(properties) >= {"action", "coordinate", "coordinate2", "text", "status"}
        assert units in properties["coordinate"]["description"]
