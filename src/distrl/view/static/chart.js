// Charts as SVG that follow the page's colours: lines with bands, stacks of shares, a heat map.
// Hovering reads values off, dragging zooms in, a double click zooms out; so do ← →, + and −. Gaps (null) stay gaps.

import { figure, h, s } from "./dom.js";

const LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 24;

function ticks(low, high, count) {
  const span = high - low || 1;
  const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= raw);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step) found.push(Number(at.toPrecision(10)));
  return found;
}

const clean = (values) => values.filter((value) => value !== null && Number.isFinite(value));

class Frame {
  constructor(height, label) {
    this.height = height;
    this.svg = s("svg", { height, role: "img", "aria-label": label ?? "chart", tabindex: "0" });
    this.tip = h("div", { class: "tip", role: "status", hidden: true });
    this.element = h("div", { class: "chart" }, this.svg, this.tip);
    this.width = 320;
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width > 40 && width !== this.width) { this.width = width; this.draw(); }
    }).observe(this.element);
    this.svg.addEventListener("pointermove", (event) => this.hover(this.place(event)));
    for (const gone of ["pointerleave", "blur"]) this.svg.addEventListener(gone, () => { this.tip.hidden = true; this.cursor?.remove(); });
    this.svg.addEventListener("keydown", (event) => { if (this.key(event.key)) { event.preventDefault(); event.stopPropagation(); } });
  }

  // Where the keys stop: every point of the first line, every column.
  key(key) {
    const stops = this.stops(), step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[key];
    if (!step || !stops.length) return this.zoomKey?.(key, stops) ?? false;
    this.stop = Math.max(0, Math.min(stops.length - 1, (this.stop ?? -1) + step));
    this.hover(this.x(stops[this.stop]));
    return true;
  }

  axes({ x, y, xText, yText, yTicks }) {
    const { width, height } = this;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    for (const at of yTicks) {
      const place = y(at);
      this.svg.append(s("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: place, y2: place }), s("text", { x: LEFT - 6, y: place + 4, "text-anchor": "end" }, yText(at)));
    }
    for (const at of ticks(this.from, this.to, Math.max(2, Math.floor(width / 110)))) this.svg.append(s("text", { x: x(at), y: height - 6, "text-anchor": "middle" }, xText(at)));
  }

  x = (value) => LEFT + ((value - this.from) / (this.to - this.from || 1)) * (this.width - LEFT - RIGHT);
  back = (place) => this.from + ((place - LEFT) / (this.width - LEFT - RIGHT)) * (this.to - this.from);
  place = (event) => { const box = this.svg.getBoundingClientRect(); return ((event.clientX - box.left) / box.width) * this.width; };

  point(place, text) {
    this.cursor?.remove();
    this.cursor = s("line", { class: "cursor", x1: place, x2: place, y1: TOP, y2: this.height - BOTTOM });
    this.svg.append(this.cursor);
    this.tip.textContent = text;
    this.tip.hidden = false;
    this.tip.style.left = `${Math.min(Math.max(place, 70), this.width - 70)}px`;
    this.tip.style.top = "4px";
  }
}

// series: [{name, x: [], y: [], low: [], high: [], dots}], all with the same axes
export class LineChart extends Frame {
  constructor({ series, height = 150, label, share = false, log = false, xText = figure, marks = [] }) {
    super(height, label);
    Object.assign(this, { series, share, log, xText, marks, zoom: null });
    this.svg.addEventListener("pointerdown", (event) => { this.start = this.place(event); });
    this.svg.addEventListener("pointerup", (event) => {
      const [one, other] = [this.start, this.place(event)].map(this.back).sort((a, b) => a - b);
      if (Math.abs(this.place(event) - this.start) > 12) { this.zoom = [one, other]; this.draw(); }
    });
    this.svg.addEventListener("dblclick", () => { this.zoom = null; this.draw(); });
    this.draw();
  }

  stops() {
    const first = this.series.find((each) => each.y.some((value) => value !== null));
    return first ? first.x.filter((at, place) => first.y[place] !== null && at >= this.from && at <= this.to) : [];
  }

  zoomKey(key, stops) {
    if (key === "+") { const at = stops[this.stop] ?? (this.from + this.to) / 2, span = (this.to - this.from) / 4; this.zoom = [at - span, at + span]; }
    else if (key === "-") this.zoom = null;
    else return false;
    this.stop = undefined;
    this.draw();
    return true;
  }

  draw() {
    const every = this.series.flatMap((each) => clean(each.x));
    [this.from, this.to] = this.zoom ?? [Math.min(...every, 0), Math.max(...every, 1e-9)];
    const inside = this.series.flatMap((each) => each.y.map((value, at) => (each.x[at] >= this.from && each.x[at] <= this.to ? [value, each.low?.[at], each.high?.[at]] : [])).flat());
    const values = clean(inside.filter((value) => value !== undefined)).filter((value) => !this.log || value > 0);
    let [low, high] = this.share ? [0, 1] : [Math.min(...values), Math.max(...values)];
    if (!values.length && !this.share) [low, high] = [0, 1];
    if (low === high) { low -= Math.abs(low || 1) / 2; high += Math.abs(high || 1) / 2; if (this.log && low <= 0) low = high / 10; }
    const scale = this.log ? (value) => Math.log10(Math.max(value, 1e-30)) : (value) => value;
    const span = scale(high) - scale(low) || 1;
    const y = (value) => TOP + (1 - (scale(value) - scale(low)) / span) * (this.height - TOP - BOTTOM);
    const yTicks = this.log ? [low, high] : this.share ? [0, 0.25, 0.5, 0.75, 1] : ticks(low, high, 3);
    this.axes({ x: this.x, y, yTicks, xText: this.xText, yText: (value) => (this.share ? `${Math.round(100 * value)} %` : figure(value)) });
    this.series.forEach((each, number) => this.line(each, y, each.color ?? number % 10));
  }

  line(each, y, color) {
    const known = (at) => each.x[at] !== null && each.y[at] !== null && Number.isFinite(each.y[at]) && !(this.log && each.y[at] <= 0) && each.x[at] >= this.from && each.x[at] <= this.to;
    const parts = [];
    let part = [];
    each.x.forEach((_, at) => { if (known(at)) part.push(at); else if (part.length) { parts.push(part); part = []; } });
    if (part.length) parts.push(part);
    for (const places of parts) {
      if (each.low && !each.dots) {
        const up = places.map((at) => `${this.x(each.x[at])},${y(each.high[at])}`), down = places.map((at) => `${this.x(each.x[at])},${y(each.low[at])}`).reverse();
        this.svg.append(s("polygon", { points: [...up, ...down].join(" "), class: `band c${color}` }));
      }
      if (!each.dots) this.svg.append(s("path", { d: `M${places.map((at) => `${this.x(each.x[at]).toFixed(1)} ${y(each.y[at]).toFixed(1)}`).join("L")}`, class: `line c${color}`, "stroke-dasharray": each.dashed ? "5 4" : null }));
      if (each.dots || places.length === 1) for (const at of places) {
        if (each.low) this.svg.append(s("line", { x1: this.x(each.x[at]), x2: this.x(each.x[at]), y1: y(each.low[at]), y2: y(each.high[at]), class: `c${color}`, "stroke-width": 2 }));
        this.svg.append(s("circle", { cx: this.x(each.x[at]), cy: y(each.y[at]), r: each.dots ? 5 : 2.5, class: `c${color}` }));
      }
    }
  }

  hover(spot) {
    const at = this.back(spot);
    const found = this.series.map((each) => {
      let best = -1;
      each.x.forEach((value, place) => { if (each.y[place] !== null && (best < 0 || Math.abs(value - at) < Math.abs(each.x[best] - at))) best = place; });
      return best < 0 ? null : [each, best];
    }).filter(Boolean);
    if (!found.length) return;
    const show = (value) => (this.share ? `${(100 * value).toFixed(1)} %` : figure(value, 4));
    const [first, place] = found[0];
    this.point(this.x(first.x[place]), [this.xText(first.x[place]), ...found.map(([each, best]) => `${each.name ? `${each.name}  ` : ""}${show(each.y[best])}`)].join("\n"));
  }
}

// columns of shares that add up to 1: x of each column, one row of `shares` per name
export class StackChart extends Frame {
  constructor({ at, names, shares, height = 150, label, xText = figure, colors = null }) {
    super(height, label);
    Object.assign(this, { at, names, shares, xText, colors: colors ?? names.map((_, row) => row % 10) });
    this.draw();
  }

  draw() {
    this.from = 0;
    this.to = this.at.at(-1) ?? 1;
    const y = (value) => TOP + (1 - value) * (this.height - TOP - BOTTOM);
    this.axes({ x: this.x, y, yTicks: [0, 0.5, 1], xText: this.xText, yText: (value) => `${100 * value} %` });
    this.at.forEach((end, column) => {
      const [left, right] = [this.x(column ? this.at[column - 1] : 0), this.x(end)];
      const total = this.names.reduce((sum, _, row) => sum + this.shares[row][column], 0);
      let below = 0;
      this.names.forEach((_, row) => {
        const share = total ? this.shares[row][column] / total : 0;
        if (share > 0) this.svg.append(s("rect", { x: left, width: Math.max(0.5, right - left - 0.5), y: y(below + share), height: Math.max(0, y(below) - y(below + share)), class: `bar c${this.colors[row]}` }));
        below += share;
      });
    });
  }

  stops() { return this.at.map((end, column) => ((column ? this.at[column - 1] : 0) + end) / 2); }

  hover(spot) {
    const moment = this.back(spot);
    const column = this.at.findIndex((end) => end >= moment);
    if (column < 0) return;
    const total = this.names.reduce((sum, _, row) => sum + this.shares[row][column], 0) || 1;
    const rows = this.names.map((name, row) => [name, this.shares[row][column] / total]).filter(([, share]) => share > 0.001);
    this.point(spot, [this.xText(this.at[column]), ...rows.map(([name, share]) => `${name}  ${(100 * share).toFixed(1)} %`)].join("\n"));
  }
}

export function legend(names, colors) {
  return h("div", { class: "legend" }, names.map((name, at) => h("span", {}, h("i", { class: `c${colors?.[at] ?? at % 10}` }), name)));
}

// rows from the bottom up, columns over time; as dark as the share of its column
export class HeatMap extends Frame {
  constructor({ at, rows, counts, height = 170, label, xText = figure }) {
    super(height, label);
    Object.assign(this, { at, rows, counts, xText });
    this.draw();
  }

  draw() {
    this.from = 0;
    this.to = this.at.at(-1) ?? 1;
    const used = this.rows.map((_, row) => this.counts.some((column) => column[row] > 0)).lastIndexOf(true) + 1;
    this.used = Math.max(used, 2);
    const tall = (this.height - TOP - BOTTOM) / this.used;
    const y = (row) => this.height - BOTTOM - (row + 1) * tall;
    this.axes({ x: this.x, y: (row) => y(row) + tall / 2, yTicks: [...Array(this.used).keys()], xText: this.xText, yText: (row) => this.rows[row].replaceAll("_", " ").replace(" to ", "–") });
    this.counts.forEach((column, number) => {
      const [left, right] = [this.x(number ? this.at[number - 1] : 0), this.x(this.at[number])];
      const total = column.reduce((sum, count) => sum + count, 0) || 1;
      column.slice(0, this.used).forEach((count, row) => {
        if (count) this.svg.append(s("rect", { x: left, width: Math.max(1, right - left), y: y(row) + 0.5, height: tall - 1, class: "cell", "fill-opacity": (0.12 + 0.88 * (count / total)).toFixed(3) }));
      });
    });
  }

  stops() { return this.at.map((end, column) => ((column ? this.at[column - 1] : 0) + end) / 2); }

  hover(spot) {
    const moment = this.back(spot);
    const column = this.at.findIndex((end) => end >= moment);
    if (column < 0) return;
    const total = this.counts[column].reduce((sum, count) => sum + count, 0) || 1;
    const lines = this.rows.map((name, row) => [name, this.counts[column][row] / total]).filter(([, share]) => share > 0);
    this.point(spot, [`update ${this.at[column]}`, ...lines.map(([name, share]) => `${name.replaceAll("_", " ")} old  ${(100 * share).toFixed(0)} %`)].join("\n"));
  }
}
