// All episodes: filters, search, and a list that only ever draws the rows that are in sight.

import { load, of } from "./data.js";
import { chip, h } from "./dom.js";

const AHEAD = 6; // rows drawn beyond the edges

function choices(values) {
  return [...new Set(values)].filter((value) => value !== "" && value !== undefined && value !== null).sort((one, other) => String(one).localeCompare(String(other), "en", { numeric: true }));
}

function table(columns, details) {
  const place = new Map(details.seq.map((seq, at) => [seq, at]));
  return columns.seq.map((seq, at) => {
    const found = place.get(seq);
    const known = found === undefined ? {} : { instruction: details.instruction[found], apps: details.apps[found], judge: details.judge[found], reason: details.reason[found], unreadable: details.unreadable[found], surprise: details.surprise[found], ending: details.ending[found] };
    const task = columns.task[at], split = task.split("/").at(-2) ?? "";
    const row = { seq, task, split, template: columns.template[at], ending: columns.ending[at], steps: columns.steps[at], version: columns.version[at], staleness: columns.staleness[at], device: columns.device[at], ended: columns.ended[at], apps: [], judge: "", ...known };
    row.text = `${seq} ${task} ${row.device} ${row.ending} ${row.instruction ?? ""} ${row.reason ?? ""}`.toLowerCase();
    return row;
  });
}

const FILTERS = [["ending", "Any ending"], ["template", "Any task"], ["app", "Any app"], ["split", "Any split"], ["device", "Any phone"], ["judge", "Any judge"]];
const SORTS = { newest: (a, b) => b.seq - a.seq, oldest: (a, b) => a.seq - b.seq, surprise: (a, b) => (b.surprise ?? -1) - (a.surprise ?? -1), steps: (a, b) => b.steps - a.steps, staleness: (a, b) => b.staleness - a.staleness };

export async function episodesPage({ run, query, address }) {
  const newest = await load(of(run, "newest.json")); // a screenful at once; all of them follow
  let columns = newest.episodes, details = newest.details, total = newest.total;
  let rows = table(columns, details), shown = [], at = -1, here = location.hash;
  const wanted = new URLSearchParams(query);
  const search = h("input", { type: "search", placeholder: "Search instructions, tasks, reasons   ( / )", "aria-label": "Search", value: wanted.get("q") ?? "" });
  const selects = Object.fromEntries(FILTERS.map(([name, label]) => [name, h("select", { "aria-label": label })]));
  const unreadable = h("button", { "aria-pressed": String(wanted.get("unreadable") === "1") }, "unreadable answers");
  const order = h("select", { "aria-label": "Order" }, Object.keys(SORTS).map((name) => h("option", { value: name, selected: wanted.get("sort") === name }, { newest: "newest first", oldest: "oldest first", surprise: "most surprising", steps: "longest", staleness: "stalest" }[name])));
  const versions = h("input", { type: "text", inputmode: "numeric", size: 9, placeholder: "versions 3-9", "aria-label": "Weight versions, such as 3-9", value: wanted.get("versions") ?? "" });
  const surprise = h("input", { type: "text", inputmode: "decimal", size: 9, placeholder: "surprise ≥", "aria-label": "Surprise of at least, in nats", title: "−log of the probability of the least likely answer, in nats", value: wanted.get("surprise") ?? "" });
  const count = h("span", { class: "muted number", role: "status" });
  const room = h("div", { class: "room" });
  const list = h("div", { class: "card list", tabindex: "0", role: "group", "aria-label": "Episodes" }, room);
  const pool = new Map(); // rows in sight, by place

  function options() {
    const values = { ending: rows.map((row) => row.ending), template: rows.map((row) => row.template), app: rows.flatMap((row) => row.apps), split: rows.map((row) => row.split), device: rows.map((row) => row.device), judge: rows.map((row) => row.judge) };
    for (const [name, label] of FILTERS) {
      const select = selects[name], chosen = select.value || (wanted.get(name) ?? ""), every = choices(values[name]);
      select.replaceChildren(h("option", { value: "" }, label), ...every.map((value) => h("option", { value, selected: value === chosen }, String(value).replaceAll("_", " "))));
      select.hidden = every.length < 2 && !chosen;
    }
  }

  function within(version) {
    const found = versions.value.match(/^\s*(\d+)\s*(?:[-–]\s*(\d+)?)?\s*$/);
    if (!found) return true;
    const open = /[-–]/.test(versions.value);
    return version >= Number(found[1]) && version <= (found[2] ? Number(found[2]) : open ? Infinity : Number(found[1]));
  }

  function surprises(value) {
    const least = Number.parseFloat(surprise.value.replace(",", "."));
    return Number.isNaN(least) || (value ?? -Infinity) >= least;
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = Object.fromEntries(FILTERS.map(([name]) => [name, selects[name].value]));
    const only = unreadable.getAttribute("aria-pressed") === "true";
    shown = rows.filter((row) => words.every((word) => row.text.includes(word)) && FILTERS.every(([name]) => !chosen[name] || (name === "app" ? row.apps.includes(chosen.app) : row[name] === chosen[name])) && (!only || row.unreadable > 0) && within(row.version) && surprises(row.surprise));
    shown.sort(SORTS[order.value]);
    const judged = shown.filter((row) => ["success", "failure", "gave_up", "step_limit"].includes(row.ending)), good = judged.filter((row) => row.ending === "success").length;
    const whole = rows.length >= total;
    count.textContent = !whole ? `the newest of ${total.toLocaleString("en")}…` : `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}${judged.length ? ` · ${Math.round((100 * good) / judged.length)} % success` : ""}`;
    at = Math.min(at, shown.length - 1);
    for (const element of pool.values()) element.remove();
    pool.clear();
    draw();
  }

  function remember() {
    const kept = new URLSearchParams();
    if (search.value) kept.set("q", search.value);
    for (const [name] of FILTERS) if (selects[name].value) kept.set(name, selects[name].value);
    if (unreadable.getAttribute("aria-pressed") === "true") kept.set("unreadable", "1");
    if (versions.value) kept.set("versions", versions.value);
    if (surprise.value) kept.set("surprise", surprise.value);
    if (order.value !== "newest") kept.set("sort", order.value);
    const text = kept.toString();
    here = `${address(run, "episodes")}${text ? `?${text}` : ""}`;
    history.replaceState(null, "", here);
  }

  const tall = () => (matchMedia("(max-width: 760px)").matches ? 68 : 44);

  function draw() {
    const height = tall();
    room.style.height = `${shown.length * height}px`;
    const first = Math.max(0, Math.floor(list.scrollTop / height) - AHEAD), last = Math.min(shown.length, Math.ceil((list.scrollTop + (list.clientHeight || 700)) / height) + AHEAD);
    for (const [place, element] of pool) if (place < first || place >= last) { element.remove(); pool.delete(place); }
    for (let place = first; place < last; place++) {
      if (pool.has(place)) continue;
      const row = shown[place];
      const element = h("a", { href: address(run, "episode", row.seq, 0), tabindex: "-1", style: { transform: `translateY(${place * height}px)` } },
        h("span", { class: "seq muted number" }, String(row.seq)), h("span", { class: "template mono" }, row.template), h("span", { title: row.reason ?? "" }, row.instruction ?? "…"), chip(row.ending),
        h("span", { class: "steps end" }, `${row.steps}`), h("span", { class: "version end" }, `v${row.version}`), h("span", { class: "surprise end" }, row.surprise === undefined || row.surprise === null ? "" : row.surprise.toFixed(1)), h("span", { class: "device muted" }, row.device));
      element.classList.toggle("chosen", place === at);
      pool.set(place, element);
      room.append(element);
    }
  }

  function choose(place) {
    if (!shown.length) return;
    pool.get(at)?.classList.remove("chosen");
    at = Math.max(0, Math.min(shown.length - 1, place));
    const height = tall(), above = at * height, below = above + height;
    if (above < list.scrollTop) list.scrollTop = above;
    else if (below > list.scrollTop + list.clientHeight) list.scrollTop = below - list.clientHeight;
    draw();
    pool.get(at)?.classList.add("chosen");
  }

  function fill(found) {
    const known = new Set(found.seq); // the newest were read before: their details stay until all are here
    const kept = newest.details.seq.map((seq, place) => place).filter((place) => !known.has(newest.details.seq[place]));
    details = Object.fromEntries(Object.keys(newest.details).map((name) => [name, [...(found[name] ?? []), ...kept.map((place) => newest.details[name][place])]]));
    total = columns.seq.length;
    rows = table(columns, details);
    options();
    filter();
  }

  async function readAll() {
    columns = await load(of(run, "episodes.json"));
    fill(details);
    fill(await load(of(run, "details.json")));
  }

  const changed = () => { list.scrollTop = 0; at = -1; filter(); remember(); };
  for (const element of [...Object.values(selects), order]) element.addEventListener("change", changed);
  for (const element of [search, versions, surprise]) element.addEventListener("input", changed);
  search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); list.focus(); choose(0); } });
  unreadable.addEventListener("click", () => { unreadable.setAttribute("aria-pressed", String(unreadable.getAttribute("aria-pressed") !== "true")); changed(); });
  list.addEventListener("scroll", draw, { passive: true });
  const resized = new ResizeObserver(() => { for (const element of pool.values()) element.remove(); pool.clear(); draw(); });
  resized.observe(list);
  options();
  filter();
  sessionStorage.setItem("distrl-order", "");

  return {
    element: [
      h("div", { class: "spread" }, h("h1", {}, "Episodes"), count),
      h("div", { class: "filters" }, search, ...Object.values(selects), versions, surprise, unreadable, order),
      h("div", { class: "heads", "aria-hidden": "true" }, ["", "task", "instruction", "ending", "steps", "weights", "surprise", "phone"].map((name, place) => h("span", { class: place > 3 && place < 7 ? "end" : "" }, name))),
      list,
    ],
    entered: () => { draw(); readAll().catch((error) => { count.textContent = error.message; }); },
    leave: () => { resized.disconnect(); sessionStorage.setItem("distrl-order", JSON.stringify([run, shown.map((row) => row.seq), here])); },
    refresh: async () => { if (list.scrollTop > 0 || at >= 0) return; await readAll(); },
    key: (key) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, j: 1, k: -1 }[key];
      if (step) { choose(at + step); return true; }
      if (key === "Home" || key === "End") { choose(key === "Home" ? 0 : shown.length - 1); return true; }
      if (key === "Enter" && at >= 0) { location.hash = address(run, "episode", shown[at].seq, 0); return true; }
      return false;
    },
  };
}
