// An attempt and the continuations that were played from its steps, as the tree that they are.

import { h, s, words } from "./dom.js";

const ROW = 34, LEFT = 16, STEP = 26;
const COLORS = { success: "var(--good)", failure: "var(--bad)", step_limit: "var(--bad)", gave_up: "var(--bad)" };

export function familyTree(run, seq, family, address) {
  const longest = Math.max(...family.map((each) => each.steps)), width = LEFT + STEP * longest + 190;
  const x = (step) => LEFT + step * STEP, y = (place) => 20 + place * ROW;
  const rows = [...family].sort((one, other) => Number(other.root) - Number(one.root) || one.step - other.step || one.seq - other.seq);
  const drawing = s("svg", { width, height: ROW * rows.length + 12, role: "img", "aria-label": `${rows.length} episodes from one attempt` });
  for (const [place, each] of rows.entries()) {
    const color = COLORS[each.ending] ?? "var(--warn)", from = each.root ? 0 : each.step;
    const stroke = { fill: "none", stroke: color, "stroke-width": each.seq === seq ? 4 : 2 };
    if (!each.root) drawing.append(s("path", { ...stroke, "stroke-dasharray": "3 3", d: `M ${x(from)} ${y(0)} L ${x(from)} ${y(place)}` }));
    drawing.append(s("path", { ...stroke, d: `M ${x(from)} ${y(place)} L ${x(each.steps)} ${y(place)}` }));
    for (let step = from; step <= each.steps; step++) drawing.append(s("circle", { cx: x(step), cy: y(place), r: step === each.steps ? 6 : 3, fill: color }));
    const link = s("a", { href: address(run, "episode", each.seq, from) }, s("text", { x: x(each.steps) + 14, y: y(place) + 4, "font-weight": each.seq === seq ? 700 : 400 }, `${each.seq} ${words(each.ending)}${each.seq === seq ? " (this one)" : ""}`));
    drawing.append(link);
  }
  return h("section", { class: "card stack" }, h("h2", {}, "Played on from its steps"), h("p", { class: "muted small" }, "The attempt on top, step by step; below it the continuations, from where each left it. Large dots: where it ended."), h("div", { class: "scroll tree" }, drawing));
}
