// The same step under other weights of the run: what they would answer, and how likely they find what was answered.
// The server computes it when asked, in a process of its own; what is no longer kept cannot be asked.

import { load, of } from "./data.js";
import { h, percent } from "./dom.js";

const shade = (probability) => ({ borderBottomColor: `color-mix(in srgb, var(--good) ${Math.round(100 * probability)}%, var(--bad))` });

// A token with its likeliest alternatives behind it: opened by click or by keyboard.
export function tokenWithAlternatives([piece, probability, others]) {
  const text = others.map(([other, p]) => `${percent(p, 1).padStart(8)}  ${JSON.stringify(other)}`).join("\n");
  const list = h("span", { class: "others", hidden: true, role: "note" }, text);
  const button = h("button", { class: "token", "aria-expanded": "false", title: `${percent(probability, 2)}; its alternatives`, style: shade(probability), on: { click: () => { list.hidden = !list.hidden; button.setAttribute("aria-expanded", String(!list.hidden)); } } }, piece);
  return [button, list];
}

function column(found, kept, recorded) {
  const whole = found.tokens.reduce((product, [, p]) => product * p, 1);
  return h("div", { class: "opinion stack" },
    h("div", { class: "spread" }, h("h3", {}, kept?.words ?? found.key), h("span", { class: "muted small" }, `version ${found.version}`)),
    h("div", {}, h("p", { class: "muted small" }, "would answer"), h("p", { class: "quote" }, found.words, " ", found.same ? h("span", { class: "chip" }, "as it was") : ""), h("p", { class: "mono small quote" }, found.answer)),
    h("div", { class: "figures" }, h("div", {}, h("span", {}, "V, value"), h("b", {}, percent(found.value, 1))), recorded ? h("div", {}, h("span", {}, "of what was answered"), h("b", {}, percent(whole, 1))) : null),
    found.tokens.length ? h("div", {}, h("p", { class: "muted small" }, "how likely it finds each token that was drawn; open one for its alternatives"), h("p", { class: "tokens" }, found.tokens.map(tokenWithAlternatives))) : null);
}

export function opinions(run, seq) {
  const body = h("div", { class: "opinions" });
  const note = h("p", { class: "muted small", role: "status" });
  const choice = (label) => h("select", { "aria-label": label, hidden: true }); // until the weights are known
  const one = choice("Weights on the left"), other = choice("Weights on the right");
  const ask = h("button", { hidden: true }, "Compare");
  const element = h("section", { class: "card stack" }, h("div", { class: "row" }, h("h2", {}, "What changed its mind?"), one, other, ask), note, body);
  let kept = null, place = 0, asked = 0;

  async function list(version) {
    if (kept === null) {
      kept = await load(of(run, "weights.json")).catch(() => []); // a bundle has none
      for (const select of [one, other]) {
        select.replaceChildren(...kept.map((each) => h("option", { value: each.key }, each.words)));
        select.hidden = !kept.length;
      }
      ask.hidden = !kept.length;
      if (kept.length) { one.value = kept[0].key; other.value = kept.at(-1).key; }
    }
    const there = kept.some((each) => each.version === version);
    note.textContent = !kept.length ? "None of this run's weights are kept here, so none can be asked." : there ? "" : `Version ${version}, which decided this step, is not kept; what it answered stands above.`;
  }

  async function compare() {
    const mine = ++asked, step = place;
    ask.disabled = true;
    note.textContent = "Computing… the first time takes some seconds: the model is loaded.";
    try {
      const keys = [one.value, other.value], columns = [];
      for (const key of keys) columns.push(await load(of(run, `step/${seq}-${step}/${encodeURIComponent(key)}.json`)));
      if (mine !== asked) return;
      const [left, right] = columns;
      note.textContent = left.answer === right.answer ? "Both would answer the same." : "They would answer differently.";
      body.replaceChildren(...columns.map((each) => column(each, kept.find((one) => one.key === each.key), each.tokens.length)));
    } catch (error) {
      if (mine === asked) note.textContent = error.message;
    } finally {
      ask.disabled = false;
    }
  }
  ask.addEventListener("click", compare);

  return {
    element,
    show(step, version) {
      place = step;
      asked += 1;
      ask.disabled = false;
      body.replaceChildren();
      list(version);
    },
  };
}
