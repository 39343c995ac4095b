// Runs: side by side, the settings in which they differ, their curves over each other, and two of them task by task.

import { load, of } from "./data.js";
import { LineChart, legend } from "./chart.js";
import { METRICS } from "./curves.js";
import { duration, figure, h, rate } from "./dom.js";

const SHOWN = 6;

// Runs that differ in nothing but their seed, as one curve: the mean, and the range as its band.
function grouped(names, curvesOf, settings) {
  const others = Object.entries(settings).filter(([name]) => name !== "run.seed");
  const groups = new Map();
  for (const name of names) {
    const key = JSON.stringify(others.map(([, values]) => values[name] ?? null));
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return [...groups.values()].map((members) => {
    const curves = members.map((name) => curvesOf[name]).filter((curve) => curve.length);
    if (!curves.length) return null;
    if (curves.length === 1) return { name: members.join(", "), x: curves[0].map(([at]) => at), y: curves[0].map(([, value]) => value) };
    const end = Math.min(...curves.map((curve) => curve.at(-1)[0])), x = [...Array(61).keys()].map((at) => (at * end) / 60);
    const at = (curve, moment) => { const next = curve.findIndex(([when]) => when >= moment); if (next <= 0) return next < 0 ? null : curve[0][0] > moment ? null : curve[0][1]; const [[t0, y0], [t1, y1]] = [curve[next - 1], curve[next]]; return y0 + ((y1 - y0) * (moment - t0)) / (t1 - t0 || 1); };
    const rows = x.map((moment) => curves.map((curve) => at(curve, moment)).filter((value) => value !== null));
    const whole = (row) => row.length === curves.length;
    return { name: `${members.length} seeds: ${members[0]} …`, x, y: rows.map((row) => (whole(row) ? row.reduce((sum, value) => sum + value, 0) / row.length : null)), low: rows.map((row) => (whole(row) ? Math.min(...row) : null)), high: rows.map((row) => (whole(row) ? Math.max(...row) : null)) };
  }).filter(Boolean);
}

const SUCCESS = "success";

export async function runsPage({ run, query, address }) {
  const overview = await load("runs.json");
  const runs = overview.runs, names = runs.map((each) => each.name);
  const chosen = new Set(names.slice(0, SHOWN));
  const read = new Map(); // curves.json of each run whose metrics were asked for
  let seeds = true, metric = new URLSearchParams(query).get("metric") ?? SUCCESS;
  if (!METRICS.some(([name]) => name === metric)) metric = SUCCESS;
  const picture = h("section", { class: "card stack" });
  const result = h("div", { class: "stack" });

  // By run, [seconds, figure] each: success comes with the overview, metrics when they are first asked for.
  async function curvesOf(kept) {
    if (metric === SUCCESS) return overview.curves;
    await Promise.all(kept.filter((name) => !read.has(name)).map(async (name) => read.set(name, (await load(of(name, "curves.json"))).metrics)));
    const points = (found) => (found ? found.seconds.map((at, place) => [at, found.figures[place]]).filter(([, value]) => value !== null) : []);
    return Object.fromEntries(kept.map((name) => [name, points(read.get(name)[metric])]));
  }

  const heading = h("h2", {}), about = h("p", { class: "muted small" }), chart = h("div", {}), names_ = h("div", {});
  const which = h("select", { "aria-label": "What is drawn", on: { change: () => { metric = which.value; history.replaceState(null, "", `${address(run, "runs")}${metric === SUCCESS ? "" : `?${new URLSearchParams({ metric })}`}`); draw(); } } },
    h("option", { value: SUCCESS }, "Success of training episodes"), METRICS.map(([name, title]) => h("option", { value: name, selected: name === metric }, title)));
  const together = h("button", { on: { click: () => { seeds = !seeds; draw(); } } }, "seeds together");
  picture.append(h("div", { class: "spread wrap" }, heading, h("div", { class: "row" }, which, together)), about, chart, names_);

  async function draw() {
    const kept = names.filter((name) => chosen.has(name)), asked = metric;
    const curves = await curvesOf(kept);
    if (asked !== metric) return; // another was chosen meanwhile
    const series = seeds ? grouped(kept, curves, overview.settings) : kept.filter((name) => curves[name].length).map((name) => ({ name, x: curves[name].map(([at]) => at), y: curves[name].map(([, value]) => value) }));
    const [, title, words] = METRICS.find(([name]) => name === metric) ?? ["", "Success of training episodes", "share of them, over the run"];
    heading.textContent = title;
    about.textContent = words;
    together.setAttribute("aria-pressed", String(seeds));
    chart.replaceChildren(series.length ? new LineChart({ series, share: metric === SUCCESS, height: 240, label: `${title} of the chosen runs`, xText: duration }).element : h("p", { class: "muted" }, metric === SUCCESS ? "None of the chosen runs has enough episodes for a curve." : "None of the chosen runs has recorded it."));
    names_.replaceChildren(legend(series.map((each) => each.name)));
  }

  const pick = (label, at) => h("select", { "aria-label": label }, names.map((name, place) => h("option", { value: name, selected: place === at }, name)));
  const one = pick("One run", Math.min(1, names.length - 1)), other = pick("The other run", 0);
  async function compare() {
    const found = await load(of(one.value, `versus/${encodeURIComponent(other.value)}.json`));
    const changed = found.rows.filter((row) => row.one !== row.other);
    const mark = (good) => h("span", { class: `chip ${good ? "success" : "failure"}` }, good ? "done" : "not done");
    result.replaceChildren(h("p", {}, h("b", {}, found.words)),
      found.rows.length ? h("p", { class: "muted" }, `${changed.filter((row) => row.other).length} tasks won, ${changed.filter((row) => row.one).length} lost, ${found.rows.length - changed.length} as before.`) : "",
      changed.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["task", one.value, other.value].map((name) => h("th", {}, name)))), h("tbody", {}, changed.map((row) => h("tr", {}, h("td", { class: "mono" }, row.task), h("td", {}, mark(row.one)), h("td", {}, mark(row.other))))))) : "");
  }
  one.addEventListener("change", compare);
  other.addEventListener("change", compare);

  const heads = ["", "run", "state", "before", "after", "gain", "trajectories", "updates", "time", "seed"];
  const rows = runs.map((each) => {
    const box = h("input", { type: "checkbox", checked: chosen.has(each.name), "aria-label": `Show ${each.name}` });
    box.addEventListener("change", () => { if (box.checked) chosen.add(each.name); else chosen.delete(each.name); draw(); });
    return h("tr", {}, h("td", {}, box), h("td", { class: "run" }, h("a", { href: address(each.name, each.kept_evaluation ? "episodes" : "wall") }, each.name), each.dry_run ? h("b", { class: "dry" }, ` ${each.dry_run}`) : null, h("div", { class: "muted small" }, [each.algorithm, each.model, each.devices ? `${each.devices} phones` : ""].filter(Boolean).join(" · "))), h("td", {}, h("span", { class: `state ${each.state}` }, each.state)), h("td", { class: "number" }, rate(each.before)), h("td", { class: "number" }, rate(each.after)), h("td", {}, each.gain), h("td", { class: "end number" }, figure(each.trajectories)), h("td", { class: "end number" }, figure(each.updates)), h("td", { class: "end number" }, duration(each.seconds)), h("td", { class: "end number" }, figure(each.seed)));
  });
  const settings = Object.entries(overview.settings);
  const show = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
  await draw();
  if (names.length > 1) compare().catch((error) => result.replaceChildren(h("p", {}, error.message)));
  return {
    element: [
      h("div", { class: "spread" }, h("h1", {}, "Runs"), h("span", { class: "muted" }, `${runs.length} in ${overview.path}`)),
      h("section", { class: "card scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((name, at) => h("th", { class: at > 5 ? "end" : "" }, name)))), h("tbody", {}, rows))),
      picture,
      names.length > 1 ? h("section", { class: "card stack" }, h("div", { class: "row" }, h("h2", {}, "Task by task"), one, "→", other), result) : null,
      names.length > 1 ? h("section", { class: "card stack" }, h("h2", {}, "Settings that differ"), settings.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "setting"), names.map((name) => h("th", {}, name)))), h("tbody", {}, settings.map(([name, values]) => h("tr", {}, h("td", { class: "mono" }, name), names.map((each) => h("td", { class: "mono small quote" }, show(values[each])))))))) : h("p", { class: "muted" }, "None but names and folders.")) : null,
    ].filter(Boolean),
  };
}
