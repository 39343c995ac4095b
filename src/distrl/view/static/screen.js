// A phone's screen with the last action drawn on it, in shares of the screen, so that it fits every size.

import { h, s } from "./dom.js";

function marks(action, ratio) {
  if (!action || !["Tap", "LongPress", "DoubleTap", "Pinch", "Swipe", "DragAndDrop"].includes(action.kind)) return [];
  const [x, y] = [action.x * 100, action.y * 100 * ratio];
  const ring = (radius, extra) => s("circle", { cx: x, cy: y, r: radius, "stroke-width": 1.2, class: `finger ${extra ?? ""}` });
  if (!("to_x" in action)) return [ring(6, "soft"), ring(6), action.kind === "Tap" ? null : ring(9), ring(2, "dot")];
  const [tx, ty] = [action.to_x * 100, action.to_y * 100 * ratio];
  const length = Math.max(1, Math.hypot(tx - x, ty - y));
  const [ux, uy] = [(tx - x) / length, (ty - y) / length];
  const tip = `${tx},${ty} ${tx - 6 * ux - 3.5 * uy},${ty - 6 * uy + 3.5 * ux} ${tx - 6 * ux + 3.5 * uy},${ty - 6 * uy - 3.5 * ux}`;
  return [ring(4, "soft"), s("line", { x1: x, y1: y, x2: tx - 5 * ux, y2: ty - 5 * uy, "stroke-width": 1.8, class: "finger" }), s("polygon", { points: tip, class: "finger dot" })];
}

export class PhoneScreen {
  constructor(label) {
    this.image = h("img", { alt: label ?? "", decoding: "async" });
    this.overlay = s("svg", { viewBox: "0 0 100 200", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.element = h("span", { class: "screen" }, this.image, this.overlay);
    this.image.addEventListener("load", () => this.fit(this.image.naturalWidth, this.image.naturalHeight));
    this.ratio = 2;
  }

  fit(width, height) {
    if (!width || !height) return;
    this.ratio = height / width;
    this.element.style.aspectRatio = `${width} / ${height}`;
    this.overlay.setAttribute("viewBox", `0 0 100 ${100 * this.ratio}`);
    this.mark(this.action);
  }

  show(address) {
    if (this.image.getAttribute("src") !== address) this.image.src = address;
  }

  mark(action) {
    this.action = action;
    this.overlay.replaceChildren(...marks(action, this.ratio).filter(Boolean));
  }
}
