// The curves of a run: success with its interval, where time went, how old the data was, and every metric.

import { load, of } from "./data.js";
import { HeatMap, LineChart, StackChart, legend } from "./chart.js";
import { duration, figure, h, percent, rate, words } from "./dom.js";

export const METRICS = [
  ["collection/trajectories_per_minute", "Throughput", "trajectories a minute"],
  ["learner/staleness/mean", "Staleness drawn", "weight versions, mean of a batch"],
  ["learner/ratio/effective_sample_share", "Effective samples", "share of the turns that count, by their ratios"],
  ["learner/ratio/clip_fraction", "Clip fraction", "share of the ratios above 1"],
  ["learner/ratio/q95", "Ratio, 95th percentile", "of whole turns"],
  ["learner/entropy", "Entropy", "nats per token"],
  ["learner/value/calibration_error", "Calibration error", "of the critic, in probability; 0 is calibrated"],
  ["learner/loss/policy", "Policy loss", "as minimised"],
  ["learner/loss/value", "Value loss", "of the critic"],
  ["learner/gradient_norm/policy", "Gradient norm", "of the policy, before clipping"],
  ["learner/invalid_rate", "Unreadable answers", "share of the turns in a batch"],
  ["learner/seconds/update", "Update time", "seconds in forward and backward passes"],
  ["learner/samples_per_insert", "Samples per insert", "draws for each trajectory so far"],
  ["learner/replay/trajectories", "Replay", "trajectories in it"],
  ["collection/queue", "Queue", "trajectories that wait for the learner"],
  ["collection/machine/memory_left_gigabytes", "Memory left", "gigabytes of the learner's machine"],
  ["collection/machine/learner_gigabytes", "The learner's memory", "gigabytes"],
  ["collection/machine/gpu_memory_share", "GPU memory in use", "share of the learner's GPU"],
  ["collection/machine/disk_free_gigabytes", "Disk left", "gigabytes, where the run is"],
  ["learner/watch/logprob_gap", "Acting and learning", "largest gap between their log-probabilities"],
];
const ENDINGS = { success: 2, failure: 6, step_limit: 1, gave_up: 4, app_crash: 3, device_lost: 5, judge_unavailable: 7, awaiting_verdict: 0 };
const minutes = (value) => duration(value);

export async function curvesPage({ run, figures }) {
  let [curves, summary] = await Promise.all([load(of(run, "curves.json")), figures()]);
  let log = false, byUpdates = true, find = "";
  const body = h("div", { class: "cards" });

  const card = (title, about, chart, wide) => h("section", { class: `card ${wide ?? ""}` }, h("div", { class: "spread" }, h("h2", {}, title), h("span", { class: "muted small number" }, about ?? "")), chart);
  const nothing = (text) => h("p", { class: "muted" }, text);

  function success() {
    if (!curves.success.length && !curves.evaluations.length) return nothing("No episode has been judged yet.");
    const rows = curves.success, tests = curves.evaluations;
    const series = [{ name: "training", x: rows.map((row) => row.seconds), y: rows.map((row) => row.rate), low: rows.map((row) => row.low), high: rows.map((row) => row.high) }];
    if (tests.length) series.push({ name: "evaluation", dots: true, x: tests.map((row) => row.seconds), y: tests.map((row) => row.rate), low: tests.map((row) => row.low), high: tests.map((row) => row.high) });
    return h("div", {}, new LineChart({ series, share: true, height: 260, label: "Success over the run", xText: minutes }).element, legend(series.map((each) => (each.dots ? "evaluation, 95 % interval" : "training episodes, 95 % interval"))));
  }

  function time(which) {
    const found = curves[which], whole = curves[`${which}_whole`];
    if (!found.seconds.length) return nothing("This run has no record of it.");
    const names = found.stages.map((stage) => `${stage} ${percent(whole[stage] ?? 0)}`);
    return h("div", {}, new StackChart({ at: found.seconds, names: found.stages, shares: found.shares, label: words(which), xText: minutes }).element, legend(names));
  }

  // Of a run with tasks of several families, or with several environments: a line for each.
  function families() {
    const rows = curves.families.filter((each) => each.curve.length);
    if (curves.families.length < 2 || !rows.length) return null;
    const series = rows.map(({ family, curve }) => ({ name: family, x: curve.map((row) => row.seconds), y: curve.map((row) => row.rate), low: curve.map((row) => row.low), high: curve.map((row) => row.high) }));
    return h("div", {}, new LineChart({ series, share: true, height: 200, label: "Success by family or environment", xText: minutes }).element, legend(series.map((each) => each.name)));
  }

  function templates() {
    const cells = (row) => ["training", "before", "after"].map((stage) => h("td", { class: "end number" }, row[stage] ? `${rate(row[stage])}` : "", h("span", { class: "muted small" }, row[stage] ? `  of ${row[stage].episodes}` : "")));
    return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["task", "training", "before", "after"].map((name, at) => h("th", { class: at ? "end" : "" }, name)))), h("tbody", {}, curves.families.map((row) => h("tr", { class: "family" }, h("th", { scope: "row" }, `all ${row.family}`), cells(row))), curves.templates.map((row) => h("tr", {}, h("td", { class: "mono" }, row.template), cells(row))))));
  }

  function metric([name, title, about]) {
    const found = curves.metrics[name];
    if (!found || found.figures.every((value) => value === null)) return null;
    const last = found.figures.findLast((value) => value !== null);
    const chart = new LineChart({ label: title, log, series: [{ x: byUpdates ? found.updates : found.seconds, y: found.figures }], xText: byUpdates ? figure : minutes });
    return h("section", { class: "card" }, h("div", { class: "spread" }, h("h3", {}, title), h("b", { class: "number" }, figure(last))), h("p", { class: "muted small" }, about), chart.element);
  }

  function draw() {
    const known = new Set(METRICS.map(([name]) => name));
    const others = find ? Object.keys(curves.metrics).filter((name) => !known.has(name) && name.includes(find)).map((name) => [name, name.split("/").slice(1).join(" / "), name.split("/")[0]]) : [];
    const toggle = (text, pressed, act) => h("button", { "aria-pressed": String(pressed), on: { click: () => { act(); draw(); } } }, text);
    const search = h("input", { type: "search", placeholder: `More of ${Object.keys(curves.metrics).length} metrics   ( / )`, "aria-label": "Find metrics", value: find });
    search.addEventListener("change", () => { find = search.value.trim(); draw(); });
    const byFamily = families();
    const stale = curves.staleness, kinds = curves.endings.kinds;
    body.replaceChildren(...[
      card("Success", summary.gain || (summary.recent?.rate !== null ? `last ${summary.recent.episodes} episodes ${rate(summary.recent)}` : ""), success(), "wide"),
      card("Where the phones' time went", "adds up to 100 %", time("phone_time"), "half"),
      card("Where the learner's time went", "adds up to 100 %", time("learner_time"), "half"),
      card("How episodes ended", "by when they ended", kinds.length ? h("div", {}, new StackChart({ at: curves.endings.counts[0].map((_, at) => ((at + 1) * curves.seconds) / curves.endings.counts[0].length), names: kinds.map(words), shares: curves.endings.counts, label: "Endings", xText: minutes, colors: kinds.map((kind) => ENDINGS[kind] ?? 5) }).element, legend(kinds.map(words), kinds.map((kind) => ENDINGS[kind] ?? 5))) : nothing("No episode has ended yet."), "half"),
      card("How old the data was when drawn", "weight versions; darker: a larger share of the draws", stale.updates.length ? new HeatMap({ at: stale.updates, rows: stale.buckets, counts: stale.counts, label: "Staleness drawn" }).element : nothing("No update yet."), "half"),
      h("div", { class: "row wide" }, h("h2", {}, "Metrics"), toggle("log axis", log, () => { log = !log; }), toggle("by updates", byUpdates, () => { byUpdates = true; }), toggle("by time", !byUpdates, () => { byUpdates = false; }), search, h("span", { class: "muted small" }, "drag to zoom, double click for all")),
      ...[...METRICS, ...others].map(metric),
      byFamily ? card("Success by family or environment", "of training episodes", byFamily, "wide") : null,
      card("Success by task and family", "with 95 % intervals", templates(), "wide"),
    ].filter(Boolean));
  }

  const tile = (name, value) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, name));
  const tiles = h("section", { class: "card tiles" });
  function head(now) {
    tiles.replaceChildren(tile("evaluation before", rate(now.before)), tile("evaluation after", rate(now.after)), tile("last 100 episodes", rate(now.recent)), tile("trajectories", figure(now.trajectories)), tile("a minute", figure(now.per_minute)), tile("updates", figure(now.updates)), tile("phones kept from playing", percent(now.waiting, 1)), tile("versions old when drawn", figure(now.staleness)), tile("of the turns effective", now.effective ? percent(now.effective) : "–"), tile("broken by the world", figure(now.broken)));
  }
  head(summary);
  draw();
  return { element: [h("h1", {}, "Curves"), tiles, body], refresh: async (now) => { head(now); if (document.activeElement?.type === "search" || scrollY > 60) return; curves = await load(of(run, "curves.json")); draw(); } };
}
