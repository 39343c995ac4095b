"""Answers as models really give them, and what each is to be read as.

Collected from bug reports about phone agents (the report is named where there is one) and from the
habits of the models. Each is a dialect, an answer to a picture of 1000 by 2000, and the action that
is meant, or a part of the reason for which it is unreadable.
"""

from __future__ import annotations

from typing import NamedTuple

from distrl import records as r


class Ugly(NamedTuple):
    """One answer; `meant` is the action, or words of the reason why there is none."""

    dialect: str
    answer: str
    meant: r.Action | str


def _tool(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "mobile_use", "arguments": {arguments}}}\n</tool_call>'


MIDDLE = r.Tap(0.5, 0.5)
DOWN = r.Swipe(0.5, 0.7, 0.5, 0.3)

QWEN: tuple[tuple[str, r.Action | str], ...] = (
    # what stands around the call
    ("```json\n" + _tool('{"action": "click", "coordinate": [500, 1000]}') + "\n```", MIDDLE),
    ('```json\n{"action": "click", "coordinate": [500, 1000]}\n```', MIDDLE),  # MobileAgent 182
    ("Thought: There.\nAction: Tap it.\n" + _tool('{"action": "wait", "time": 3}'), r.Wait(3.0)),
    ('<think>{"action": "swipe"}?</think>' + _tool('{"action": "wait"}'), r.Wait()),
    ('<thinking>\nBack (or Home?)\n</thinking>\n' + _tool('{"action": "wait"}'), r.Wait()),
    ('so {"action": "wait"} it is</think>{"action": "open", "text": "Clock"}', r.OpenApp("Clock")),
    ("<think>" + _tool('{"action": "click", "coordinate": [500, 1000]}'), "all thought"),
    ('{"action": "terminate", "status": "success"}<|im_end|>', r.Done()),
    ("I will tap the point (500, 1000) now.", "no JSON"),
    ('{"thought": "done"}', "no arguments or action"),
    # several calls: the first is meant (vLLM 16797)
    (_tool('{"action": "wait"}') + "\n" + _tool('{"action": "type", "text": "x"}'), r.Wait()),
    ('[{"action": "wait", "time": 1}, {"action": "open", "text": "Clock"}]', r.Wait(1.0)),
    # quotes
    (
        "{'name': 'mobile_use', 'arguments': {'action': 'type', 'text': 'it\\'s'}}",
        r.TypeText("it's"),
    ),
    ("{'action': 'type', 'text': 'it's me'}", r.TypeText("it's me")),
    ('{"action": "type", "text": "say "hi", please"}', r.TypeText('say "hi", please')),
    ("{“action”： “type”， “text”： “你好”}", r.TypeText("你好")),
    ('{"action": "type", "text": "one\ntwo"}', r.TypeText("one\ntwo")),
    ('{"action": "type", "text": "\\ud83d\\ude00"}', r.TypeText("😀")),
    ('{"action": "type", "text": "\\ud83d"}', "half of a surrogate pair"),
    ('{"action": "type", "text": "C:\\Users\\d"}', r.TypeText("C:\\Users\\d")),
    ('{"action": "type", "text": 5551234}', r.TypeText("5551234")),
    ('{"action": "type", "text": 007}', r.TypeText("007")),
    ('{"action": "type", "text": null}', "text is missing"),
    ('{"action": "type", "text": ["a", "b"]}', "text is no text"),
    ('{"action": "type", "text": ""}', r.TypeText("")),
    # brackets and commas
    ('{"action": "click", "coordinate": [500, 1000],}', MIDDLE),
    ('{"action": "click" "coordinate": [500 1000]}', MIDDLE),
    ('{"action": "click", "coordinate": [500, 1000}}', MIDDLE),
    ('{"action": "click", "coordinate": [500, 1000]]}', MIDDLE),
    ('{"action": "click", "coordinate": [500, 1000]}}}', MIDDLE),
    ("{action: click, coordinate: (500, 1000)}", MIDDLE),
    ('<tool_call>{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 1000]',
     MIDDLE),
    ('<tool_call>{"name": "mobile_use", "arguments": {"action": "wait"</tool_call>', r.Wait()),
    ('<tool_call>{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 10',
     "in the middle of '10'"),
    ('{"action": "click", "coordinate": [500, ', "in the middle of a list"),
    ('{"action": "type", "text": "and so', "in the middle of a text"),
    ('{"action": ', "it ends where a value belongs"),
    ('{"action": ?}', "'?}' stands where a value belongs"),
    # strings within strings
    (_tool('"{\\"action\\": \\"click\\", \\"coordinate\\": [500, 1000]}"'), MIDDLE),
    ('"{\\"action\\": \\"click\\", \\"coordinate\\": [500, 1000]}"', MIDDLE),
    (_tool('{"action": "click", "coordinate": "[500, 1000]"}'), MIDDLE),
    # names
    (_tool('{"action": "CLICK", "Coordinate": ["500", "1000"]}'), MIDDLE),
    ('{"name": "Mobile-Use", "arguments": {"action": "Long Press", "coordinate": [500, 1000]}}',
     r.LongPress(0.5, 0.5)),
    ('{"name": "click", "arguments": {"coordinate": [500, 1000]}}', MIDDLE),
    ('{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [5, 6]}}',
     "the only tool is mobile_use"),
    (_tool('{"coordinate": [500, 1000]}'), "action is missing"),
    (_tool('{"action": ["click"], "coordinate": [500, 1000]}'), "action is no text"),
    (_tool('{"action": "double_click", "coordinate": [500, 1000]}'), "no action 'double_click'"),
    (_tool('{"action": "ask_user"}'), "text is missing"),
    # places
    (_tool('{"action": "click", "coordinate": [500.0, 1000.4]}'), r.Tap(0.5, 0.5002)),
    (_tool('{"action": "click", "coordinate": [1e3, 2001]}'), r.Tap(1.0, 1.0)),
    (_tool('{"action": "click", "coordinate": [400, 900, 600, 1100]}'), MIDDLE),
    (_tool('{"action": "click", "coordinate": [[400, 900], [600, 1100]]}'), MIDDLE),
    (_tool('{"action": "click", "coordinate": {"x": 500, "y": 1000}}'), MIDDLE),
    (_tool('{"action": "click", "coordinate": [-5, 20]}'), "x of coordinate is -5"),
    (_tool('{"action": "click", "coordinate": [500, 2408]}'), "y of coordinate is 2408"),
    (_tool('{"action": "click", "coordinate": [0.46, 0.51]}'), "shares"),  # VideoLLaMA3 50
    (_tool('{"action": "click", "coordinate": [NaN, 3]}'), "no place"),
    (_tool('{"action": "click", "coordinate": [1e999, 3]}'), "x of coordinate is inf"),
    (_tool('{"action": "click", "coordinate": null}'), "coordinate is missing"),
    (_tool('{"action": "click", "coordinate": [null, 3]}'), "no place"),
    (_tool('{"action": "click", "coordinate": [true, false]}'), "no place"),
    (_tool('{"action": "click", "coordinate": [500]}'), "no place"),
    (_tool('{"action": "click", "coordinate": []}'), "no place"),
    (_tool('{"action": "click", "coordinate": "the OK button"}'), "no place"),
    (_tool('{"action": "swipe", "coordinate": [500, 1000]}'), "coordinate2 is missing"),
    (_tool('{"action": "swipe", "coordinate": [500, 1400], "coordinate2": [500, 600]}'), DOWN),
    (_tool('{"action": "swipe", "direction": "up"}'), DOWN),  # MAI-UI
    (_tool('{"action": "swipe", "direction": "sideways"}'), "direction is 'sideways'"),
    (_tool('{"action": "drag", "start_coordinate": [500, 1400], "end_coordinate": [500, 600]}'),
     DOWN),
    # one word
    (_tool('{"action": "system_button", "button": "back"}'), r.Back()),
    (_tool('{"action": "system_button", "button": "Menu"}'), "no key 'Menu'"),
    (_tool('{"action": "key", "text": "KEYCODE_ENTER"}'), r.Enter()),
    (_tool('{"action": "key", "text": "camera"}'), "no key 'camera'"),
    (_tool('{"action": "terminate", "status": "fail"}'), r.Impossible()),
    (_tool('{"action": "terminate"}'), "status is missing"),
    (_tool('{"action": "wait", "time": "2.5 s"}'), r.Wait(2.5)),
    (_tool('{"action": "wait", "time": -3}'), "time is no number of seconds"),
    (_tool('{"action": "wait", "time": 100000}'), "wait for 0 to 600 seconds"),
    (_tool('{"action": "wait", "time": ' + "9" * 5000 + "}"), "wait for 0 to 600 seconds"),
)  # fmt: skip

UI_TARS: tuple[tuple[str, r.Action | str], ...] = (
    ("Thought: There.\nAction: click(start_box='<|box_start|>(500,1000)<|box_end|>')", MIDDLE),
    ("1. It was typed.\n2. Next.\nAction: click(start_box='(500,1000)')", MIDDLE),  # desktop 37
    ("```\nThought: Hm.\nAction: click(start_box='(500,1000)')\n```", MIDDLE),
    ("**Action:** `press_home()`", r.Home()),
    ("Action：click（start_box=‘(500，1000)’）", MIDDLE),
    ("click(point='<point>500 1000</point>')", MIDDLE),  # Doubao
    ("Action: click(start_box=<point>500 1000</point>)", MIDDLE),
    ("Action: click(start_box=(500, 1000))", MIDDLE),
    ("Action: click([500, 1000])", MIDDLE),
    ("Action: click(start_box='[400, 900, 600, 1100]')", MIDDLE),  # UI-TARS 125
    ("Action: click(start_box='(400,900),(600,1100)')", MIDDLE),
    ("Action: click(start_box='<bbox>400 900 600 1100</bbox>')", MIDDLE),
    ("Action: CLICK(START_BOX='(500,1000)')", MIDDLE),
    ("Action: click(start_box='(500,1000)'", MIDDLE),
    ("Action: click(start_box='(500,1000)')\n\ntype(content='x')", MIDDLE),
    ("Action: click(start_box='=')", "start_box is no place"),  # UI-TARS 78
    ("Action: click(start_box='')", "start_box is no place"),
    ("Action: click()", "start_box is missing"),
    ("Action: click(start_box='(5000,1000)')", "x of start_box is 5000"),
    ("Action: click(start_box='(-1,-1)')", "x of start_box is -1"),
    ("Action: click(start_box='(500,10", "in the middle of a text"),
    ("Action: right_single(start_box='(1,2)')", "right_single is nothing"),
    ("Thought: I click (the button), then type(content='x').\nAction: press_back()", r.Back()),
    ("Thought: I click (the button).", "no action"),
    ("Thought: a\nAction: press_back()\nThought: b\nAction: press_home()", r.Back()),
    ("Action: PressBack()", r.Back()),
    ("Action: long_press(start_box='(500,1000)', time='2')", r.LongPress(0.5, 0.5)),
    ("Action: scroll(start_box='(500,1000)', direction='down')", DOWN),
    ("Action: scroll(direction=down)", DOWN),
    ("Action: scroll(start_box='(500,1400)', end_box='(500,600)')", DOWN),
    ("Action: scroll(start_box='(500,1400)')", "neither an end nor a direction"),
    ("Action: drag(start_point='<point>500 1400</point>', end_point='<point>500 600</point>')",
     DOWN),
    ("Action: type(content='it's done, \"ok\"')", r.TypeText("it's done, \"ok\"")),
    ('Action: type(content="milk\\n")', r.TypeText("milk\n")),
    ("Action: type(content='milk", "in the middle of a text"),
    ("Action: type(content='שלום, 😀')", r.TypeText("שלום, 😀")),
    ("Action: hotkey(key='enter')", r.Enter()),
    ("Action: hotkey(key='ctrl c')", "no key 'ctrl c'"),
    ("Action: open_app(app_name='Clock')", r.OpenApp("Clock")),
    ("Action: wait()", r.Wait(5.0)),
    ("Action: finished(content='It\\'s 5 o\\'clock')", r.Answer("It's 5 o'clock")),
    ("Action: finished(content='')", r.Done()),
    ("Action: call_user()", r.Impossible()),
    ("Action: None", "no action"),
)  # fmt: skip

AUTOGLM: tuple[tuple[str, r.Action | str], ...] = (
    ('do(action="Tap", element=[811,188])</answer>', r.Tap(0.811, 0.188)),  # Open-AutoGLM 347
    ('<answer>\ndo(action="Launch", app="美团")</answer>', r.OpenApp("美团")),  # 376
    ('do(action="Type", text="去哪里"吃饭"呀？")', r.TypeText('去哪里"吃饭"呀？')),  # 286
    ('[{\'Type", text="库迪咖啡")', "no action"),  # 27
    ("[{'Type': 'Type'}]", "no action"),  # 316
    ('<|begin_of_box|>I see.<|end_of_box|>\n<|begin_of_box|>do(action="Home")<|end_of_box|>',
     r.Home()),  # 59
    ('好。\ndo(action="Type", text="周一\n- 早餐：牛奶")', r.TypeText("周一\n- 早餐：牛奶")),  # 154
    ('<think>do(action="Back")?</think><answer>do(action="Home")</answer>', r.Home()),
    ('<think>do(action="Back")', "all thought"),
    ('What to do (if anything)? I finish (later). do(action="Back")', r.Back()),
    ('<answer>```python\ndo(action="Home")\n```</answer>', r.Home()),
    ('do(action="Back")\ndo(action="Home")', r.Back()),
    ("DO(ACTION='HOME')", r.Home()),
    ('do(action=“Tap”, element=[500，500])', MIDDLE),
    ('do(action="Tap", element="[500,500]")', MIDDLE),
    ('do(action="Tap", element=[500,500], message="重要操作")', MIDDLE),
    ('do(action="Tap", element=[400,400,600,600])', MIDDLE),
    ('do(action="Tap", element=[1000,1000])', r.Tap(1.0, 1.0)),
    ('do(action="Tap", element=[1080,2400])', "x of element is 1080"),
    ('do(action="Tap", element=[500,50', "in the middle of '50'"),
    ('do(action="Tap")', "element is missing"),
    ('do(action="Long Press", element=[500,500])', r.LongPress(0.5, 0.5)),
    ('do(action="Triple Tap", element=[500,500])', "no action 'Triple Tap'"),
    ('do(action="Swipe", start=[500,700], end=[500,300])', DOWN),
    ('do(action="Swipe", start=[500,700])', "end is missing"),
    ('do(action="Type_Name", text="Ana")', r.TypeText("Ana")),
    ('do(action="Type", text="a, b=c")', r.TypeText("a, b=c")),
    ('do(action="Wait", duration="3 seconds")', r.Wait(3.0)),
    ('do(action="Wait", duration=1.5)', r.Wait(1.5)),
    ('do(action="Wait", duration="a while")', "duration is no number"),
    ('do(action="Take_over", message="captcha")', r.Impossible()),
    ('do(action="Note", message="True")', "no action 'Note'"),
    ('do(action=None)', "action is missing"),
    ('finish(message="他说"好"。")', r.Answer('他说"好"。')),
    ("finish(message='42')", r.Answer("42")),
    ("finish()", r.Done()),
)  # fmt: skip

ANDROID_WORLD: tuple[tuple[str, r.Action | str], ...] = (
    ('Reason: There.\nAction: {"action_type": "click", "x": 500, "y": 1000}', MIDDLE),
    ('Reason: {"action_type": "wait"} failed.\nAction: {"action_type": "navigate_home"}', r.Home()),
    ('```json\n{"action_type": "click", "x": 500.0, "y": "1000",}\n```', MIDDLE),
    ('{"action_type": "click", "coordinate": [500, 1000]}', MIDDLE),
    ('{"action_type": "click", "index": 5}', "by its index"),
    ('{"action_type": "click", "x": null, "y": 3}', "no place such as [x, y]: [None, 3]"),
    ('{"action_type": "click", "x": 5}', "no place"),
    ('{"action_type": "click"}', "no place"),
    ('{"action_type":"click","x":100,"y":20', "in the middle of '20'"),
    ('{"action_type":"long_press","x":500,"y":1000}', r.LongPress(0.5, 0.5)),
    ('{"action_type": "triple_tap", "x": 5, "y": 5}', "no action_type 'triple_tap'"),
    ("{'action_type': 'input_text', 'text': 'a, b', 'index': 3}", r.TypeText("a, b")),
    ('{"action_type": "input_text", "text": null}', "text is missing"),
    ('{"action_type": "scroll", "direction": "DOWN"}', r.Swipe(0.5, 0.5, 0.5, 0.0)),
    ('{"action_type": "scroll", "direction": "down", "index": 3}', "by its index"),
    ('{"action_type": "scroll"}', "direction is ''"),
    ('{"action_type": "swipe", "direction": "up"}', r.Swipe(0.5, 1.0, 0.5, 0.0, seconds=0.5)),
    ('{"action_type": "open_app", "app_name": "Clock"}', r.OpenApp("Clock")),
    ('{"actionType": "navigateBack", "keycode": null}', r.Back()),
    ('{"action_type": "press_keyboard", "keycode": "KEYCODE_ENTER"}', r.Enter()),
    ('{"action_type": "answer", "text": "She said "no", then left"}',
     r.Answer('She said "no", then left')),
    ('{"action_type": "status", "goal_status": "infeasible"}', r.Impossible()),
    ('{"action_type": "status", "goal_status": "success"}', r.Done()),
    ('{"action_type": "status", "goal_status": "perhaps"}', "'perhaps' says neither"),
    ('{"action_type": "unknown"}', "no action_type 'unknown'"),
    ('{"action_type": 7}', "no action_type '7'"),
    ("{}", "no actiontype in its JSON"),
)  # fmt: skip

_NOWHERE = "[-1.0, -1.0]"


def _decision(kind: str, touch: str = _NOWHERE, lift: str = _NOWHERE, text: str = "") -> str:
    return (
        f'"action_type": "{kind}", "touch_point": "{touch}", "lift_point": "{lift}", '
        f'"typed_text": "{text}"'
    )


AITW: tuple[tuple[str, r.Action | str], ...] = (
    ("Action Plan: [DUAL_POINT,TYPE]\n; Action Decision: "
     + _decision("DUAL_POINT", "[0.2463, 0.1245]", "[0.2463, 0.1245]"), r.Tap(0.1245, 0.2463)),
    ("Action Decision: " + _decision("DUAL_POINT", "[0.8, 0.5]", "[0.2, 0.5]"),
     r.Swipe(0.5, 0.8, 0.5, 0.2)),
    (_decision("DUAL_POINT", "[0.5, 0.25]", "[0.51, 0.25]"), r.Tap(0.25, 0.5)),
    ("action decision: " + _decision("dual_point", "0.5 0.25", "(0.5, 0.25)"), r.Tap(0.25, 0.5)),
    ('"action_type": "DUAL_POINT", "touch_point": [0.5, 0.25], "lift_point": [0.5, 0.25]',
     r.Tap(0.25, 0.5)),
    # DigiRL and DistRL split at ", ", so a comma in the text ended their episodes
    ("Action Decision: " + _decision("TYPE", text="milk, eggs"), r.TypeText("milk, eggs")),
    ("Action Decision: " + _decision("TYPE", text='milk, "bread"'), r.TypeText('milk, "bread"')),
    ('Action Decision: {"action_type": "TYPE", "typed_text": "hi"}', r.TypeText("hi")),
    (_decision("PRESS_HOME"), r.Home()),
    ("Action Decision: " + _decision("TASK_IMPOSSIBLE"), r.Impossible()),
    ("Action Decision: " + _decision("STATUS_TASK_COMPLETE"), r.Done()),
    ("Action Decision: " + _decision("DUAL_POINT"), "off the screen"),
    ("Action Decision: " + _decision("SCROLL_DOWN"), "no type 'SCROLL_DOWN'"),
    (_decision("DUAL_POINT", "[0.5, 1.2]", "[0.5, 1.2]"), "off the screen"),
    (_decision("DUAL_POINT", "[120, 300]", "[120, 300]"), "off the screen"),
    (_decision("DUAL_POINT", "[0.1, 0.2]", "[0.1, 0.2]")[:-22], "in the middle of a text"),
    ('"action_type": "DUAL_POINT", "touch_point": "[0.1, 0.2]"', "lift_point is no point"),
    (_decision("DUAL_POINT", "0.1", "0.1"), "touch_point is no point"),
    ('Action Decision: "action_type": "TYPE"', "typed_text is missing"),
    ("Action Plan: [PRESS_BACK]", 'no "action_type"'),
    ("Action Decision: ", 'no "action_type"'),
)  # fmt: skip

COMPACT: tuple[tuple[str, r.Action | str], ...] = (
    ("<tap><17,40>", r.Tap(17.5 / 36, 40.5 / 72)),
    (" \n<tap><17,40> ", r.Tap(17.5 / 36, 40.5 / 72)),
    ("<tap><36,40>", "one place"),
    ("<tap>", "one place"),
    ("<tap><17,40><18,40>", "one place"),
    ("<swipe><18,54><18,18><0>", "two places"),
    ("<back> please", "stands alone"),
    ("<wait>soon", "number of seconds"),
    ("<wait>nan", "0 to 600 seconds"),
    ("<type>", r.TypeText("")),
    ("<type> <back>", r.TypeText(" <back>")),
    ("<type>\ud83d", "half of a surrogate pair"),
    ("<TAP><17,40>", "does not begin"),
    ("tap 17 40", "does not begin"),
)  # fmt: skip

UGLY = tuple(
    Ugly(dialect, answer, meant)
    for dialect, answers in (
        ("qwen2_5_vl", QWEN),
        ("ui_tars_1_5", UI_TARS),
        ("autoglm", AUTOGLM),
        ("android_world", ANDROID_WORLD),
        ("aitw", AITW),
        ("compact", COMPACT),
    )
    for answer, meant in answers
)
