// The wall: every phone's screen while a run trains; the last screens of its last episodes when it does not.

import { load, of, screenAddress } from "./data.js";
import { chip, describe, h, percent, words } from "./dom.js";
import { PhoneScreen } from "./screen.js";

const SILENT_SECONDS = 20;
const STAGES = { resetting: "resets", deciding: "waits for a decision", acting: "acts", delivering: "delivers", idle: "between episodes", failed: "failed" };
const ENDED = 24;

class Tile {
  constructor(run, address) {
    this.screen = new PhoneScreen("");
    this.who = h("span", {});
    this.step = h("span", { class: "number" });
    this.what = h("div", { class: "what" });
    this.does = h("div", { class: "does" });
    this.sure = h("div", { class: "sure number" });
    this.bar = h("i", {});
    this.element = h("a", { class: "phone" }, h("div", { class: "who" }, this.who, this.step), this.screen.element, h("div", { class: "progress" }, this.bar), this.what, this.does, this.sure);
    Object.assign(this, { run, address, at: 0, inSight: true });
  }

  // Decoding a picture is what a tile costs; those out of sight wait until they are scrolled to.
  draw() {
    if (this.inSight && this.picture) this.screen.show(this.picture);
  }

  update(phone) {
    this.phone = phone;
    this.at = phone.written;
    this.element.href = this.address(this.run, "wall", phone.device);
    this.who.textContent = phone.device;
    this.step.textContent = phone.step_limit ? `${phone.step}/${phone.step_limit}` : "";
    this.bar.style.width = `${phone.step_limit ? (100 * phone.step) / phone.step_limit : 0}%`;
    this.what.textContent = phone.instruction;
    this.what.title = phone.instruction;
    this.does.textContent = phone.fault || (phone.ending ? words(phone.ending) : [describe(phone.action), STAGES[phone.stage]].filter(Boolean).join(" · "));
    this.sure.textContent = phone.step ? `v${phone.version}${phone.confidence === null ? "" : ` · ${percent(phone.confidence)} sure`}` : "";
    this.screen.image.alt = `${phone.device}: ${phone.instruction}`;
    if (phone.picture) this.picture = `data:image/jpeg;base64,${phone.picture}`;
    this.draw();
    this.screen.mark(phone.ending || !phone.pictured ? null : phone.action);
    const mood = phone.fault ? "fault" : phone.ending === "success" ? "good" : phone.ending ? "poor" : "";
    this.element.setAttribute("class", `phone ${mood} ${phone.pictured ? "" : "late"} ${this.chosen ? "chosen" : ""}`);
  }
}

export async function wallPage({ run, rest, summary, address }) {
  const tiles = new Map(), byElement = new Map();
  const sight = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) { const tile = byElement.get(target); if (tile) { tile.inSight = isIntersecting; tile.draw(); } }
  }, { rootMargin: "200px" });
  const grid = h("div", { class: "wall live", hidden: true });
  const ended = h("div", { class: "wall" });
  const before = h("h2", { hidden: true });
  const note = h("p", { class: "muted" });
  const follow = { name: rest[0] ?? "", screen: new PhoneScreen("The phone that is followed") };
  const facts = h("div", { class: "stack" });
  const large = h("section", { class: "card follow", hidden: true }, follow.screen.element, facts);

  function drawFollowed() {
    const tile = tiles.get(follow.name);
    for (const [name, each] of tiles) { each.chosen = name === follow.name; each.element.classList.toggle("chosen", each.chosen); }
    large.hidden = !tile;
    if (!tile) return;
    const phone = tile.phone;
    if (tile.picture) follow.screen.show(tile.picture);
    follow.screen.mark(phone.ending || !phone.pictured ? null : phone.action);
    const figures = [["step", `${phone.step} of ${phone.step_limit}`], ["weights", `version ${phone.version}`], ["confidence", percent(phone.confidence, 1)], ["now", STAGES[phone.stage]], ["collector", phone.collector]];
    facts.replaceChildren(
      h("div", { class: "spread" }, h("h1", {}, phone.device), h("a", { href: address(run, "wall") }, "all phones")),
      h("p", { class: "quote" }, phone.instruction), h("p", { class: "muted mono small quote" }, phone.task),
      h("div", { class: "figures" }, figures.map(([name, value]) => h("div", {}, h("span", {}, name), h("b", {}, value)))),
      phone.answer ? h("div", {}, h("h3", {}, "Last answer"), h("p", { class: "mono quote" }, phone.answer)) : "",
      phone.action?.kind ? h("p", {}, describe(phone.action)) : "",
      phone.ending ? h("p", {}, chip(phone.ending)) : "",
      phone.fault ? h("p", { class: "quote chip failed" }, phone.fault) : "");
  }

  function settle() {
    const count = tiles.size;
    grid.setAttribute("class", `wall live ${count > 96 ? "crowd" : count > 32 ? "many" : ""}`);
    const now = Date.now() / 1000;
    let silent = 0;
    for (const each of tiles.values()) { const old = now - each.at > SILENT_SECONDS; silent += old; each.element.classList.toggle("stale", old); }
    const busy = [...tiles.values()].filter((each) => ["deciding", "acting", "resetting"].includes(each.phone.stage)).length;
    if (count) note.textContent = `${count} phones · ${busy} in an episode${silent ? ` · ${silent} silent for ${SILENT_SECONDS} s or more` : ""}`;
  }

  async function showEnded() {
    const { episodes, details } = await load(of(run, "newest.json"));
    const instruction = new Map(details.seq.map((seq, at) => [seq, details.instruction[at]]));
    const chosen = episodes.seq.map((_, at) => at).filter((at) => episodes.ending[at] && instruction.has(episodes.seq[at])).slice(-ENDED).reverse();
    if (!tiles.size) note.textContent = summary.state === "running" ? "Waiting for the phones…" : "This run does not train now.";
    before.hidden = false;
    before.textContent = chosen.length ? "How the last episodes ended" : "No episode has ended yet.";
    ended.replaceChildren(...chosen.map((at) => {
      const seq = episodes.seq[at], screen = new PhoneScreen(`End of episode ${seq}`);
      screen.show(screenAddress(run, seq, episodes.steps[at]));
      screen.image.loading = "lazy";
      const mood = episodes.ending[at] === "success" ? "good" : "poor";
      return h("a", { class: `phone ${mood}`, href: address(run, "episode", seq, 0) }, h("div", { class: "who" }, h("span", {}, episodes.device[at] || `episode ${seq}`), h("span", {}, `${episodes.steps[at]} steps`)), screen.element, h("div", { class: "what" }, instruction.get(seq)), h("div", { class: "does" }, words(episodes.ending[at])));
    }));
  }

  function phones(changed) {
    const fresh = changed.filter((each) => Date.now() / 1000 - each.written < 90 || tiles.has(each.device));
    if (!fresh.length) return;
    grid.hidden = false;
    let added = false;
    for (const phone of fresh) {
      if (!tiles.has(phone.device)) {
        const tile = new Tile(run, address);
        tiles.set(phone.device, tile);
        byElement.set(tile.element, tile);
        sight.observe(tile.element);
        added = true;
      }
      tiles.get(phone.device).update(phone);
    }
    if (added) grid.append(...[...tiles].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true })).map(([, tile]) => tile.element));
    settle();
    drawFollowed();
  }

  const element = [h("div", { class: "spread" }, h("h1", {}, "Wall"), note), large, grid, before, ended];
  const page = {
    element,
    phones,
    tick: settle,
    entered: () => { showEnded().catch((error) => { note.textContent = error.message; }); },
    leave: () => sight.disconnect(),
    followed: () => follow.name,
    refresh: () => (ended.getBoundingClientRect().top < innerHeight ? showEnded() : null), // each costs the server a screen
    move: (parts) => { follow.name = parts[0] ?? ""; drawFollowed(); if (follow.name) scrollTo({ top: 0 }); return tiles.size > 0; },
    key: (key) => {
      if (key === "Escape" && follow.name) { location.hash = address(run, "wall"); return true; }
      const names = [...tiles.keys()].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (!step || !names.length || !follow.name) return false;
      location.hash = address(run, "wall", names[(names.indexOf(follow.name) + step + names.length) % names.length]);
      return true;
    },
  };
  return page;
}
