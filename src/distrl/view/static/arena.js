// Arena: two agents on the same task, side by side, step by step. They may be two runs, two kept evaluations, or two
// weight versions of one run. #/RUN/arena/OTHER/SEQ/SEQ/STEP

import { load, of, screenAddress } from "./data.js";
import { chip, h, percent } from "./dom.js";
import { PhoneScreen } from "./screen.js";

// Tasks that both have played, and the attempts of each, newest first.
function shared(one, other, same) {
  const attempts = (columns) => {
    const found = new Map();
    columns.seq.forEach((seq, at) => { const list = found.get(columns.task[at]) ?? []; list.unshift({ seq, version: columns.version[at], ending: columns.ending[at] }); found.set(columns.task[at], list); });
    return found;
  };
  const [mine, theirs] = [attempts(one), attempts(other)];
  const both = [...mine.keys()].filter((task) => theirs.has(task) && (!same || mine.get(task).length > 1)).sort();
  return new Map(both.map((task) => [task, [mine.get(task), theirs.get(task)]]));
}

class Side {
  constructor(name) {
    this.screen = new PhoneScreen(`What ${name} sees`);
    this.head = h("div", { class: "spread" });
    this.detail = h("div", { class: "stack", "aria-live": "polite" });
    this.element = h("section", { class: "card stack side" }, this.head, this.screen.element, this.detail);
  }

  async open(run, seq) {
    Object.assign(this, { run, seq, episode: await load(of(run, `episode/${seq}.json`)) });
    this.screen.fit(this.episode.width, this.episode.height);
  }

  show(step, address) {
    const { episode, run, seq } = this, at = Math.min(step, episode.screens - 1), each = episode.steps[at];
    this.head.replaceChildren(h("h2", { class: "quote" }, h("a", { href: address(run, "episode", seq, at) }, `${run} · ${seq}`)), chip(episode.ending));
    this.screen.show(screenAddress(run, seq, at));
    this.screen.mark(each?.action);
    this.detail.replaceChildren(...(each
      ? [h("p", {}, h("b", {}, `Step ${at + 1} of ${episode.steps.length}  `), each.words), h("p", { class: "mono small quote" }, each.answer), h("p", { class: "muted small" }, `weights version ${each.version}${each.confidence === null ? "" : ` · ${percent(each.confidence, 1)} sure`}${each.value === null ? "" : ` · V ${percent(each.value, 1)}`}`)]
      : [h("p", {}, h("b", {}, "The end")), h("p", { class: "quote" }, episode.reason || "")]));
  }
}

const parting = (one, other) => { const at = one.steps.findIndex((step, place) => step.words !== other.steps[place]?.words); return at < 0 && one.steps.length === other.steps.length ? null : at < 0 ? one.steps.length : at; };

export async function arenaPage({ run, rest, runs, address }) {
  const names = runs.map((each) => each.name);
  const partner = names.includes(rest[0]) ? rest[0] : names.find((name) => name !== run) ?? run;
  const columns = await Promise.all([run, partner].map((name) => load(of(name, "episodes.json"))));
  const tasks = shared(...columns, run === partner);
  const sides = [new Side(run), new Side(partner)];
  const note = h("p", { class: "muted", role: "status" });
  const pick = (label, options, chosen) => h("select", { "aria-label": label }, options.map(([value, text]) => h("option", { value, selected: String(value) === String(chosen) }, text)));
  const one = pick("One side", names.map((name) => [name, name]), run), other = pick("The other side", names.map((name) => [name, name]), partner);
  const task = pick("Task", [...tasks.keys()].map((name) => [name, name]), "");
  const attempts = [h("select", { "aria-label": "Attempt of one side" }), h("select", { "aria-label": "Attempt of the other side" })];
  const where = h("span", { class: "number" });
  const back = h("button", { "aria-label": "A step back ( ← )", on: { click: () => go(step - 1) } }, "‹"), on = h("button", { "aria-label": "A step on ( → )", on: { click: () => go(step + 1) } }, "›");
  const stage = h("div", { class: "arena" }, sides.map((side) => side.element));
  let step = Number(rest[3]) || 0, given = [Number(rest[1]), Number(rest[2])];

  function go(next) {
    const last = Math.max(...sides.map((side) => side.episode.screens)) - 1;
    step = Math.max(0, Math.min(last, next));
    where.textContent = `${step + 1} of ${last + 1}`;
    for (const side of sides) side.show(step, address);
    history.replaceState(null, "", address(run, "arena", partner, sides[0].seq, sides[1].seq, step));
  }

  async function play() {
    await Promise.all(sides.map((side, at) => side.open([run, partner][at], Number(attempts[at].value))));
    const parts = parting(sides[0].episode, sides[1].episode);
    note.textContent = parts === null ? `${sides[0].episode.task.instruction} — they do the same all the way.` : `${sides[0].episode.task.instruction} — they part at step ${parts + 1}.`;
    go(step);
  }

  function chooseTask() {
    const found = tasks.get(task.value);
    found.forEach((list, at) => {
      const second = at && run === partner ? 1 : 0; // of one run: the newest attempt beside the one before
      const wanted = list.some((each) => each.seq === given[at]) ? given[at] : list[second].seq;
      attempts[at].replaceChildren(...list.map((each) => h("option", { value: each.seq, selected: each.seq === wanted }, `episode ${each.seq}, v${each.version}, ${each.ending.replaceAll("_", " ")}`)));
    });
  }

  async function begin() {
    if (!tasks.size) {
      stage.hidden = true;
      note.textContent = run === partner ? "No task was played twice in this run." : "No task was played by both. Keep two evaluations of the same split: distrl evaluate MODEL --keep DIR";
      return;
    }
    const known = [...tasks].find(([, [mine, theirs]]) => mine.some((each) => each.seq === given[0]) && theirs.some((each) => each.seq === given[1]));
    const telling = [...tasks].find(([, [mine, theirs]]) => mine[0].ending !== theirs[run === partner ? 1 : 0].ending);
    task.value = (known ?? telling ?? [...tasks][0])[0];
    chooseTask();
    await play();
  }
  task.addEventListener("change", () => { given = []; step = 0; chooseTask(); play(); });
  for (const select of attempts) select.addEventListener("change", () => { step = 0; play(); });
  for (const select of [one, other]) select.addEventListener("change", () => { location.hash = address(one.value, "arena", other.value); });
  await begin();

  return {
    element: [h("div", { class: "spread" }, h("h1", {}, "Arena"), h("span", { class: "muted small" }, `${tasks.size.toLocaleString("en")} ${tasks.size === 1 ? "task" : "tasks"} in common`)), h("div", { class: "filters" }, one, "against", other, tasks.size ? [task, ...attempts, h("span", { class: "row" }, back, where, on)] : null), note, stage],
    key: (key) => {
      const moves = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: 1e6 };
      if (!(key in moves) || !tasks.size) return false;
      go(moves[key]);
      return true;
    },
  };
}
