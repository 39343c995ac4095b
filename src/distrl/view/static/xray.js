// The X-ray of an episode: its screens as a strip, and for each step what was answered, done and thought of it.

import { load, of, screenAddress } from "./data.js";
import { LineChart } from "./chart.js";
import { familyTree } from "./family.js";
import { opinions } from "./opinions.js";
import { chip, figure, h, percent, words } from "./dom.js";
import { PhoneScreen } from "./screen.js";

function token([piece, probability]) {
  const strength = Math.round(100 * probability);
  return h("span", { title: `${(100 * probability).toFixed(2)} %`, style: { borderBottomColor: `color-mix(in srgb, var(--good) ${strength}%, var(--bad))` } }, piece);
}

const signed = (value) => (value === null || value === undefined ? "–" : `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`);

function around(run, seq) {
  try {
    const [whose, order, hash] = JSON.parse(sessionStorage.getItem("distrl-order") || "[]");
    if (whose === run && order.includes(seq)) return { before: order[order.indexOf(seq) - 1], next: order[order.indexOf(seq) + 1], list: hash };
  } catch { /* nothing remembered */ }
  return { before: seq > 1 ? seq - 1 : undefined, next: seq + 1, list: undefined };
}

export async function xrayPage({ run, rest, video, address }) {
  const seq = Number(rest[0]);
  const episode = await load(of(run, `episode/${seq}.json`), { lasting: false });
  let step = -1;
  const others = opinions(run, seq);
  const screen = new PhoneScreen("The screen of this step");
  screen.fit(episode.width, episode.height);
  const detail = h("div", { class: "stack", "aria-live": "polite" });
  const near = around(run, seq);
  const pictures = [...Array(episode.screens).keys()].map((number) => {
    const small = new PhoneScreen("");
    small.fit(episode.width, episode.height);
    small.image.loading = "lazy";
    small.show(screenAddress(run, seq, number));
    small.mark(episode.steps[number]?.action);
    return h("button", { "aria-label": number < episode.steps.length ? `Step ${number + 1}: ${episode.steps[number].words}` : "The end", on: { click: () => choose(number) } }, small.element, number < episode.steps.length ? String(number + 1) : "end");
  });
  const strip = h("div", { class: "strip card", role: "group", "aria-label": "Screens" }, pictures);
  const values = episode.steps.map((each) => each.value);
  const course = values.some((value) => value !== null) ? h("div", { class: "card" }, h("h3", {}, "Value of each screen: the critic's probability of success, when last drawn"), new LineChart({ label: "Value by step", share: true, height: 120, series: [{ name: "V", x: values.map((_, at) => at + 1), y: values }], xText: (value) => (Number.isInteger(value) ? `step ${value}` : "") }).element) : null;

  function facts(each) {
    return [
      h("div", { class: "spread" }, h("h2", {}, `Step ${step + 1} of ${episode.steps.length}`), h("span", { class: "muted" }, `weights version ${each.version}`)),
      h("p", { class: "quote" }, each.words),
      h("div", {}, h("h3", {}, "Answer"), each.tokens.length ? h("p", { class: "tokens" }, each.tokens.map(token)) : h("p", { class: "mono quote" }, each.answer || "none: the agent is a script"),
        each.tokens.length ? h("p", { class: "muted small" }, `Underlined by the probability of each token as it was drawn; as a whole ${percent(each.tokens.reduce((product, [, p]) => product * p, 1), 1)}. Other weights, and alternatives: below.`) : null),
      ...Object.entries(each.shown ?? {}).map(([title, text]) => h("div", {}, h("h3", {}, title), h("p", { class: "mono small quote" }, text))),
      each.action.reason ? h("p", { class: "chip failed quote" }, each.action.reason) : null,
      h("div", { class: "figures" },
        [["V, value", each.value === null ? "–" : percent(each.value, 1), "probability of success, by the critic"], ["A, advantage", signed(each.advantage), "in returns"], ["ρ, ratio", figure(each.ratio), "of the policy in training to the one that acted"], ["confidence", percent(each.confidence, 1), "geometric mean of the tokens' probabilities"]].map(([name, value, title]) => h("div", { title }, h("span", {}, name), h("b", {}, value)))),
      each.value === null ? h("p", { class: "muted small" }, "The learner has not drawn this episode, or the run kept no record of it.") : null,
    ];
  }

  // What a vision-language judge was asked and replied: text of others, and long, so it is folded away.
  function question() {
    const asked = episode.question;
    if (!asked) return null;
    const part = (role, text) => h("div", {}, h("h3", {}, role), h("p", { class: "mono small quote" }, text));
    if (!asked.messages) return h("p", { class: "muted small" }, "It was asked with a prompt that is not at hand.");
    return h("details", {}, h("summary", {}, "What the judge was asked, and its reply"), h("div", { class: "stack" }, asked.messages.map((each) => part(each.role, each.text)), asked.reply ? part("its reply", asked.reply) : h("p", { class: "muted small" }, "Its whole reply was not kept; the reason above was read from it.")));
  }

  function end() {
    return [h("h2", {}, "The end"), h("p", {}, chip(episode.ending)), episode.reason ? h("div", {}, h("h3", {}, `The judge (${episode.judge})`), h("p", { class: "quote" }, episode.reason), ...howFar(episode)) : h("p", { class: "muted" }, episode.judge ? `${episode.judge}: no objection` : "No verdict."), question()];
  }

  function choose(number) {
    const next = Math.max(0, Math.min(episode.screens - 1, number));
    if (next === step) return;
    pictures[step]?.removeAttribute("aria-current");
    step = next;
    pictures[step].setAttribute("aria-current", "step");
    pictures[step].scrollIntoView({ block: "nearest", inline: "nearest" });
    screen.show(screenAddress(run, seq, step));
    screen.image.alt = step < episode.steps.length ? `Screen of step ${step + 1}: ${episode.steps[step].words}` : "The last screen";
    screen.mark(episode.steps[step]?.action);
    others.element.hidden = step >= episode.steps.length;
    if (step < episode.steps.length) others.show(step, episode.steps[step].version);
    detail.replaceChildren(...(step < episode.steps.length ? facts(episode.steps[step]) : end()).filter(Boolean));
    history.replaceState(null, "", address(run, "episode", seq, step));
  }

  const meta = [["task", episode.task.id], ["apps", episode.task.apps.join(", ")], ["split", words(episode.task.split)], ["difficulty", episode.task.difficulty], ["limit", `${episode.task.step_limit} steps`], ["id", episode.id]];
  const drawn = episode.drawn?.times ? `drawn ${episode.drawn.times} times, last at update ${episode.drawn.updates}, by priority ${figure(episode.drawn.priority)}` : episode.drawn ? `scored at update ${episode.drawn.updates}` : "never drawn by the learner";
  const copy = h("button", { on: { click: async () => { await navigator.clipboard?.writeText(location.href); copy.textContent = "copied"; } } }, "Copy link");
  const arrow = (sign, where, name) => (where === undefined ? null : h("a", { href: address(run, "episode", where, 0), "aria-label": name, title: name }, sign));
  const element = [
    h("section", { class: "card stack" },
      h("div", { class: "spread" }, h("h1", { class: "quote" }, episode.task.instruction), chip(episode.ending)),
      h("p", { class: "small muted quote" }, meta.filter(([, value]) => value).map(([name, value]) => [`${name} `, h("span", { class: "mono" }, value), "   "])),
      episode.reason ? h("p", { class: "quote" }, h("span", { class: "muted" }, `${episode.judge}: `), episode.reason) : null,
      episode.notes.length ? h("p", { class: "quote small" }, episode.notes.join("\n")) : null,
      h("div", { class: "row" }, h("span", { class: "muted small" }, drawn), h("span", { style: { flex: "1" } }), arrow("‹ previous", near.before, "The episode before ( [ )"), arrow("next ›", near.next, "The next episode ( ] )"), copy,
        h("a", { href: `data/${of(run, `episode/${seq}.gif`)}`, download: `episode-${seq}.gif` }, "GIF"), video ? h("a", { href: `data/${of(run, `episode/${seq}.mp4`)}`, download: `episode-${seq}.mp4` }, "MP4") : null, h("a", { href: `data/${of(run, `episode/${seq}.json`)}`, download: `episode-${seq}.json` }, "JSON"))),
    strip,
    h("section", { class: "xray" }, h("div", {}, screen.element), h("div", { class: "stack" }, h("div", { class: "card" }, detail), others.element)),
    course,
    episode.family.length ? familyTree(run, seq, episode.family, address) : null,
  ].filter(Boolean);
  return {
    element,
    entered: () => choose(Number(rest[1] ?? 0) || 0),
    move: (parts) => { if (Number(parts[0]) !== seq) return false; choose(Number(parts[1] ?? 0) || 0); return true; },
    key: (key) => {
      const moves = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: episode.screens - 1 };
      if (key in moves) { choose(moves[key]); return true; }
      if (key === "Escape") { location.hash = near.list ?? address(run, "episodes"); return true; }
      if (key === "[" && near.before !== undefined) { location.hash = address(run, "episode", near.before, 0); return true; }
      if (key === "]" && near.next !== undefined) { location.hash = address(run, "episode", near.next, 0); return true; }
      return false;
    },
  };
}

// What a judge of facts adds to its reason: how far the agent came, what is missing, what was harmed.
function howFar(episode) {
  const list = (title, lines) => (lines?.length ? [h("h3", {}, title), h("ul", {}, ...lines.map((line) => h("li", {}, line)))] : []);
  const share = episode.progress === null || episode.progress === undefined ? [] : [h("p", { class: "muted" }, `${Math.round(100 * episode.progress)} % of the facts reached`)];
  return [...share, ...list("Missing", episode.missing), ...list("Wrongly touched", episode.collateral)];
}
