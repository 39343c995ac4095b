// Health: phones, collectors, what was lost, what logs warn of, and how much room there is.

import { load, of } from "./data.js";
import { bytes, duration, figure, h } from "./dom.js";

const table = (heads, rows) => h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((name) => h("th", {}, name)))), h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell)))))));

export async function healthPage({ run }) {
  const body = h("div", { class: "cards" });
  const card = (title, ...children) => h("section", { class: "card stack" }, h("h2", {}, title), children);
  async function draw() {
    const health = await load(of(run, "health.json"));
    const tile = (name, value) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, name));
    const none = (text) => h("p", { class: "muted" }, text);
    const placed = health.collectors.some((each) => each.place);
    const restarts = health.collectors.reduce((sum, each) => sum + each.restarts, 0);
    body.replaceChildren(
      h("section", { class: "card tiles wide" }, tile("phones quarantined", figure(health.quarantined)), tile("episodes in progress", figure(health.in_flight)), tile("waiting for the learner", figure(health.queue)), tile("faults so far", figure(health.faults)), tile("collectors started again", figure(restarts)), tile("lost or damaged", figure(health.losses.length)), tile("of this run on the disk", bytes(health.run_bytes)), tile("free there", bytes(health.disk_free))),
      h("section", { class: "card stack wide" }, h("h2", {}, "Phones"), health.devices.length ? table(["phone", "episodes", "broken", "last ended", "share of the time in episodes"], health.devices.map((each) => [h("span", { class: "mono" }, each.name), figure(each.episodes), each.broken ? h("span", { class: "chip failed" }, figure(each.broken)) : "0", duration(each.last), h("div", { class: "busy", role: "img", "aria-label": "busy over time" }, each.busy.map((share) => h("i", { style: { opacity: String(share) } })))])) : none("None has played yet.")),
      card("Failing phones", health.failed.length ? table(["phone", "times", "last reason"], health.failed.map((each) => [h("span", { class: "mono" }, each.name), figure(each.times), each.reason])) : none("None has failed.")),
      card("Quarantined phones", health.away.length ? table(["phone", "of", "last reason"], health.away.map((each) => [h("span", { class: "mono" }, each.name), h("span", { class: "mono" }, each.collector), each.reason])) : none(health.quarantined ? "Their names were not written down." : "None.")),
      card("Collectors", health.collectors.length ? table(["collector", "episodes", "in progress", "started again", ...(placed ? ["where"] : [])], health.collectors.map((each) => [h("span", { class: "mono" }, each.name), figure(each.episodes), figure(each.in_flight), figure(each.restarts), ...(placed ? [h("span", { class: "mono small" }, each.place)] : [])])) : none("None has started yet.")),
      card("Machines", table(["part", "where"], health.machines.map(([part, where]) => [part, h("span", { class: "mono" }, where)]))),
      card("Made with", Object.keys(health.made_with).length ? table(["", ""], Object.entries(health.made_with).map(([name, value]) => [name, h("span", { class: "mono small quote" }, value)])) : none("This run has no card.")),
      card("Lost or damaged", health.losses.length ? table(["what", "name", "why"], health.losses.map((each) => [each.kind, h("span", { class: "mono" }, each.name), each.reason])) : none("Nothing is missing.")),
      card("Refused actions", health.refusals.length ? table(["why", "times"], health.refusals) : none("None was refused.")),
      h("section", { class: "card stack wide" }, h("h2", {}, "Warnings in the logs"), health.warnings.length ? h("pre", { class: "mono small quote" }, health.warnings.join("\n")) : none("None.")));
  }
  await draw();
  return { element: [h("h1", {}, "Health"), body], refresh: draw };
}
