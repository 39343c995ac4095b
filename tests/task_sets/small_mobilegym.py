"""A small folder laid out as MobileGym's: a page with the same objects, and a package.

The page is a launcher with two apps, Notes (a field, a button and a list) and Lights (a switch);
opening one takes a transition. The package has one task for each split and one that cannot be set
up. Both have what `mobilegym_device` and `mobilegym_bench` use of the real ones, and no more: how
MobileGym itself does it is tested where a folder of it is named (`test_mobilegym_itself`).
"""

from __future__ import annotations

from pathlib import Path

PAGE = """<!doctype html><meta name=viewport content="width=device-width"><title>small</title>
<style>
  body { margin: 0; font: 16px sans-serif; overflow: hidden; background: #123; color: #fff }
  .icon, #field, #save, #switch { position: fixed; left: 20px; width: 300px; height: 60px }
  #app { position: fixed; inset: 0; background: #fff; color: #000; transition: left .3s }
  #app.away { left: 360px }
  #app.here { left: 0 }
  #shade { position: fixed; left: 0; right: 0; top: 0; height: 400px; background: #555 }
</style>
<button class=icon style="top:100px" onclick="__OS__.openApp('notes')">Notizen</button>
<button class=icon style="top:180px" onclick="__OS__.openApp('lights')">Lights</button>
<div id=app class=away></div><div id=shade hidden>Notifications</div>
<script>
  const DEFAULTS = { notes: { saved: [] }, lights: { on: false } };
  const store = JSON.parse(localStorage.store ?? 'null') ?? structuredClone(DEFAULTS);
  const system = { settings: { dark: false }, hardware: {}, permissions: {}, preferences: {},
    providers: {}, fileSystem: { nodes: JSON.parse(localStorage.files ?? '[]') } };
  const routes = {};
  let tasks = [], front = null, shade = false, recents = false, stamp = 0, count = 0;
  const app = document.getElementById('app');
  const keep = () => { localStorage.store = JSON.stringify(store); };
  const draw = () => {
    document.getElementById('shade').hidden = !shade;
    app.className = front ? 'here' : 'away';
    if (front === 'notes') {
      app.innerHTML = '<input id=field aria-label="New note" style="top:100px">' +
        '<button id=save style="top:180px">Save</button><div style="margin-top:260px"></div>';
      app.lastChild.textContent = `${routes.notes} ${store.notes.saved.join(', ')}`;
      document.getElementById('save').onclick = () => {
        store.notes.saved.push(document.getElementById('field').value);
        routes.notes = '/list';
        keep();
        draw();
      };
    }
    if (front === 'lights') {
      app.innerHTML = '<button id=switch style="top:100px"></button>';
      app.lastChild.textContent = store.lights.on ? 'On' : 'Off';
      app.lastChild.onclick = () => { store.lights.on = !store.lights.on; keep(); draw(); };
    }
  };
  window.__SIM_FS__ = {};
  window.__SIM_INPUT__ = { drag: async (from, to) => { window.dragged = [from, to]; } };
  window.__SIM__ = {
    getState: () => ({
      apps: structuredClone(store),
      os: { ...structuredClone(system), time: { timestamp: Date.now() }, tasks, shade,
        isRecentsVisible: recents,
        installedApps: [{ id: 'notes', name: 'Notizen' }, { id: 'lights', name: 'Lights' }] },
    }),
    setState: ({ apps = {}, os = {} }, { deep = true } = {}) => {
      for (const [name, part] of Object.entries(apps)) Object.assign(store[name], part);
      for (const [name, part] of Object.entries(os)) Object.assign(system[name], part);
      keep();
      draw();
    },
  };
  window.__OS__ = {
    getState: () => ({ tasks, isLauncherVisible: front === null }),
    getAppRoute: (id = front) => (id && routes[id] ? { app: id, path: routes[id] } : null),
    openApp: (id, path = '/') => {
      const before = tasks.find(({ rootAppId }) => rootAppId === id);
      count += 1;
      if (!before) tasks.push({ taskId: `task_${count}`, rootAppId: id });
      (before ?? tasks.at(-1)).lastActiveAt = stamp += 1;
      routes[id] = path === '/' ? routes[id] ?? '/' : path;
      [front, shade, recents] = [id, false, false];
      draw();
    },
    closeTask: (id) => {
      delete routes[tasks.find(({ taskId }) => taskId === id).rootAppId];
      tasks = tasks.filter(({ taskId }) => taskId !== id);
      front = null;
      draw();
    },
    goHome: () => { [front, shade, recents] = [null, false, false]; draw(); },
    handleBack: () => { if (shade) shade = false; else front = null; draw(); },
    showRecents: () => { recents = true; front = null; draw(); },
    shade: { open: () => { shade = true; draw(); }, close: () => { shade = false; draw(); } },
  };
</script>"""

PACKAGE = {
    "__init__": "",
    "config": """
class RunnerConfig:
    def __init__(self, agent, model_name):
        pass

    def get_max_steps(self, task=None):
        return task.max_steps
""",
    "env": """
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Observation:
    route: dict = field(default_factory=dict)
    state: dict = field(default_factory=dict)


class MobileGymEnv:
    def __init__(self, *, url, context, verbose):
        self.url, self.context, self.page = url, context, None

    async def start(self):
        self.page = await self.context.new_page()
        self.page.on("console", print)
        await self.page.goto(self.url, wait_until="domcontentloaded")

    async def reset(self):
        await self.page.wait_for_function("() => Boolean(window.__SIM__)", timeout=60000)

    async def set_state(self, patch):
        call = "({patch}) => { window.__SIM__.setState(patch); }"
        await self.page.evaluate(call, {"patch": patch})

    async def get_state(self, *, required_apps=None):
        return await self.page.evaluate("async () => window.__SIM__.getState()")

    async def get_observation(self):
        await self.page.screenshot(type="jpeg", quality=80)
        route = await self.page.evaluate("window.__OS__?.getAppRoute?.() || null")
        return Observation(route or {}, await self.get_state())
""",
    "task": """
import random


class Check:
    def __init__(self, issues, warnings):
        self.issues, self.warnings, self.judge_error = issues, warnings, None
        self.progress = sum(each["passed"] for each in issues) / len(issues)
        self.passed = self.progress == 1.0 and not warnings


class WriteNote:
    apps, difficulty, max_steps, changes = ["notes"], "L2", 12, "lights"

    def __init__(self, _seed):
        self.id, self.word = "notes.WriteNote", random.Random(_seed).choice(["milk", "bread"])

    @property
    def description(self):
        return f"Write a note that says {self.word}."

    async def setup(self, env):
        await env.reset()
        await env.set_state({"apps": {"notes": {"saved": ["eggs"]}}})
        return await env.get_observation()

    def judged(self, first, last, answer):
        saved = last.state["apps"]["notes"]["saved"]
        issue = {"field": "saved", "expected": self.word, "actual": saved[-1]}
        issues = [{**issue, "passed": saved[-1] == self.word}]
        lights = first.state["apps"]["lights"] != last.state["apps"]["lights"]
        return Check(issues, [{"field": "apps.lights.on"}] if lights else [])


class SayLights(WriteNote):
    difficulty = "L1"

    def judged(self, first, last, answer):
        return Check([{"field": "answer", "reason": "say off", "passed": answer == "off"}], [])


class Broken(WriteNote):
    async def setup(self, env):
        raise KeyError("no data")


class TaskRegistry:
    def get_by_id(self, name):
        if name.partition(".")[2] not in ("WriteNote", "SayLights", "Broken"):
            raise ValueError(f"Task {name!r} not found")
        return globals()[name.partition(".")[2]]
""",
    "runner/__init__": "",
    "runner/base": """
from dataclasses import dataclass


@dataclass
class ExecutionResult:
    steps: int
    trace: list
    runtime_s: float
    finished: bool
    truncated: bool
    agent_answer: str | None = None


class Controller:
    @staticmethod
    async def setup(env, task):
        return await task.setup(env), {}


class Evaluator:
    async def evaluate(self, task, init_obs, last_obs, exec_result):
        return task.judged(init_obs, last_obs, exec_result.agent_answer)
""",
    "splits/train.txt": "# for training\nnotes.WriteNote\nnotes.Broken\n",
    "splits/test.txt": "notes.SayLights\n",
}


def write_mobilegym(folder: Path) -> Path:
    """Write both into a folder; returns it."""
    (folder / "dist").mkdir(parents=True)
    (folder / "dist" / "index.html").write_text(PAGE, "utf-8")
    for name, text in PACKAGE.items():
        path = folder / "bench_env" / (name if "." in name else f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder
