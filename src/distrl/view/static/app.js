// The frame around the pages: which run, which page, keys that work everywhere. Addresses are #/RUN/PAGE/….

import { load, watch } from "./data.js";
import { duration, figure, h } from "./dom.js";
import { arenaPage } from "./arena.js";
import { curvesPage } from "./curves.js";
import { episodesPage } from "./episodes.js";
import { healthPage } from "./health.js";
import { runsPage } from "./runs.js";
import { wallPage } from "./wall.js";
import { xrayPage } from "./xray.js";

const PAGES = { wall: wallPage, episodes: episodesPage, episode: xrayPage, curves: curvesPage, health: healthPage, runs: runsPage, arena: arenaPage };
const TABS = [["wall", "Wall"], ["episodes", "Episodes"], ["curves", "Curves"], ["health", "Health"], ["runs", "Runs"], ["arena", "Arena"]];
const top = document.querySelector("#top"), main = document.querySelector("#main");
const state = { runs: [], run: "", page: "", page_: null, stop: null, watching: "" };

function theme(name) {
  const dark = name ? name === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function remembered(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null; // a browser that keeps nothing
  }
}

export const address = (run, page, ...rest) => `#/${[run, page, ...rest].map((part) => encodeURIComponent(part)).join("/")}`;

function read() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const known = state.runs.map((each) => each.name);
  if (!known.includes(parts[0])) return { run: known[0] ?? "", page: parts[0] === "runs" || known.length > 1 ? "runs" : "wall", rest: [], query: "" };
  return { run: parts[0], page: PAGES[parts[1]] ? parts[1] : "wall", rest: parts.slice(2), query: query ?? "" };
}

function drawTop() {
  const run = state.runs.find((each) => each.name === state.run);
  const pick = h("select", { "aria-label": "Run", on: { change: () => { location.hash = address(pick.value, state.page === "episode" ? "episodes" : state.page); } } },
    state.runs.map((each) => h("option", { value: each.name, selected: each.name === state.run }, each.name)));
  const current = state.page === "episode" ? "episodes" : state.page;
  top.replaceChildren(
    h("a", { class: "brand", href: "#/runs" }, h("img", { src: "static/icon.svg", alt: "" }), "DistRL"),
    pick,
    h("nav", { "aria-label": "Pages" }, TABS.map(([page, name]) => h("a", { href: address(state.run, page), "aria-current": page === current ? "page" : null }, name))),
    h("div", { class: "tools" },
      h("b", { class: "dry" }, run?.dry_run ?? ""),
      run ? h("span", { class: "small muted number figures-line" }, figuresLine(run)) : null,
      run ? h("span", { class: `state ${run.state}`, id: "state" }, run.state) : null,
      h("button", { title: "Light or dark", "aria-label": "Light or dark", on: { click: switchTheme } }, "◐"),
      h("button", { title: "Keys", "aria-label": "Keys", on: { click: showKeys } }, "?")));
  const nav = top.querySelector("nav"), chosen = nav.querySelector("[aria-current]"); // on a narrow screen tabs are scrolled
  if (chosen) nav.scrollLeft = chosen.offsetLeft + chosen.offsetWidth - nav.offsetLeft - nav.clientWidth;
}

function switchTheme() {
  const dark = document.documentElement.dataset.theme === "dark";
  theme(remembered("distrl-theme", dark ? "light" : "dark") ?? (dark ? "light" : "dark"));
}

function showKeys() {
  const rows = [["1 – 6", "the pages"], ["/", "search"], ["↑ ↓ Enter", "move in a list, open"], ["← →", "step by step through an episode, or two"], ["Home End", "its first and last screen"], ["[ ]", "the episode before, the next"], ["Esc", "back to the list"], ["Tab, ← → + −", "a chart: its figures, closer, all of it"], ["t", "light or dark"]];
  const dialog = h("dialog", { "aria-label": "Keys", on: { close: () => dialog.remove(), click: (event) => { if (event.target === dialog) dialog.close(); } } },
    h("h2", {}, "Keys"), h("div", { class: "keys" }, rows.map(([key, what]) => [h("kbd", {}, key), h("span", {}, what)])),
    h("form", { method: "dialog" }, h("p", { class: "end" }, h("button", { on: { click: (event) => { event.preventDefault(); dialog.close(); } } }, "Close"))));
  document.body.append(dialog);
  dialog.showModal();
}

const figuresLine = (run) => (run.trajectories === undefined ? "" : `${figure(run.trajectories)} ${run.trajectories === 1 ? "episode" : "episodes"} · ${figure(run.updates)} updates · ${duration(run.seconds)}`);

// Figures of a run come after its name: reading a long run takes longer than a page may take to appear.
async function summaryOf(name) {
  const run = state.runs.find((each) => each.name === name);
  if (!run) return null;
  Object.assign(run, await load(`${encodeURIComponent(name)}/summary.json`));
  const line = document.querySelector(".figures-line");
  if (line && state.run === name) line.textContent = figuresLine(run);
  const dry = document.querySelector(".dry");
  if (dry && state.run === name) dry.textContent = run.dry_run ?? "";
  return run;
}

// Phones are watched only where they are shown, and while the page is in sight.
function follow() {
  const followed = state.page_?.followed?.() ?? "";
  const wants = document.hidden ? "" : `${state.run} ${state.page_?.phones ? "phones" : ""} ${followed}`;
  if (state.watching === wants) return;
  state.stop?.();
  state.stop = null;
  state.watching = wants;
  if (!wants) return;
  state.stop = watch(state.run, {
    phones: state.page_?.phones ? (phones) => state.page_?.phones?.(phones) : null,
    followed,
    tick: (tick) => {
      const shown = document.querySelector("#state");
      if (shown && shown.textContent !== tick.state) { shown.textContent = tick.state; shown.className = `state ${tick.state}`; }
      state.page_?.tick?.(tick);
      if (tick.state === "running") refresh(tick);
    },
    lost: () => { state.watching = ""; },
  });
}

let last = 0;
async function refresh(tick) {
  if (performance.now() - last < 6000 || document.hidden) return;
  last = performance.now();
  const run = await summaryOf(state.run);
  state.page_?.refresh?.(run, tick);
}

async function go() {
  const { run, page, rest, query } = read();
  if (state.page_?.move && state.run === run && state.page === page && state.page_.move(rest, query)) { follow(); return; }
  state.page_?.leave?.();
  state.page_ = null;
  Object.assign(state, { run, page });
  drawTop();
  document.title = `${rest[0] && page === "episode" ? `Episode ${rest[0]}` : TABS.find(([name]) => name === page)?.[1] ?? "Episode"} · ${run} · DistRL`;
  main.replaceChildren(h("p", { class: "empty" }, "Loading…"));
  const summary = state.runs.find((each) => each.name === run);
  try {
    const shown = await PAGES[page]({ run, rest, query, summary, figures: () => summaryOf(run), runs: state.runs, video: state.video, address });
    if (state.run !== run || state.page !== page) { shown.leave?.(); return; }
    state.page_ = shown;
    main.replaceChildren(...[shown.element].flat());
    shown.entered?.();
  } catch (error) {
    main.replaceChildren(h("p", { class: "empty" }, `This cannot be shown: ${error.message}`));
  }
  if (!run) return;
  follow();
  if (summary && summary.trajectories === undefined) summaryOf(run).catch(() => {});
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (typing && event.key !== "Escape") return;
  if (typing) event.target.blur();
  if (/^[1-6]$/.test(event.key)) location.hash = address(state.run, TABS[Number(event.key) - 1][0]);
  else if (event.key === "t") switchTheme();
  else if (event.key === "?") showKeys();
  else if (event.key === "/") { event.preventDefault(); document.querySelector("input[type=search]")?.focus(); }
  else if (state.page_?.key?.(event.key)) event.preventDefault();
});
addEventListener("hashchange", go);
document.addEventListener("visibilitychange", () => { if (state.run) follow(); });

theme(remembered("distrl-theme"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(remembered("distrl-theme")));
try {
  const known = await load("names.json");
  Object.assign(state, { runs: known.runs, video: known.video });
  await go();
} catch (error) {
  main.replaceChildren(h("p", { class: "empty" }, `Nothing can be shown: ${error.message}`));
}
