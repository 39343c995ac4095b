// Builds elements. Text only ever becomes text nodes: nothing that a model or a person wrote is read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "class") element.setAttribute("class", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export const percent = (share, digits = 0) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`);
export const rate = (table) => (table && table.rate !== null ? `${percent(table.rate)} [${Math.round(100 * table.low)}, ${Math.round(100 * table.high)}]` : "–");

export function figure(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${(value / 1e3).toPrecision(3)} k`;
  if (size >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  if (size > 0 && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(digits)));
}

export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds ?? 0));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

export const bytes = (count) => (count >= 1e9 ? `${(count / 1e9).toFixed(1)} GB` : `${(count / 1e6).toFixed(1)} MB`);
export const words = (name) => name.replaceAll("_", " ");
export const chip = (ending) => h("span", { class: `chip ${/^[a-z_]+$/.test(ending) ? ending : ""}` }, ending ? words(ending) : "…");

export function describe(action) {
  const short = (value) => Number(value).toFixed(2);
  switch (action?.kind) {
    case "Tap": return `tap ${short(action.x)}, ${short(action.y)}`;
    case "LongPress": return `long press ${short(action.x)}, ${short(action.y)}`;
    case "Swipe": {
      const across = action.to_x - action.x, down = action.to_y - action.y;
      if (Math.abs(down) >= Math.abs(across)) return down < 0 ? "swipe up" : "swipe down";
      return across < 0 ? "swipe left" : "swipe right";
    }
    case "DoubleTap": return `double tap ${short(action.x)}, ${short(action.y)}`;
    case "DragAndDrop": return `drag ${short(action.x)}, ${short(action.y)} to ${short(action.to_x)}, ${short(action.to_y)}`;
    case "Pinch": return action.scale < 1 ? "pinch in" : "pinch out";
    case "AskUser": return `ask “${action.question}”${action.reply ? `: “${action.reply}”` : ""}`;
    case "OpenShade": return "open the shade";
    case "VolumeUp": return "volume up";
    case "VolumeDown": return "volume down";
    case "TypeText": return `type “${action.text}”`;
    case "OpenApp": return `open ${action.name}`;
    case "Wait": return `wait ${action.seconds} s`;
    case "Answer": return `answer “${action.text}”`;
    case "Unreadable": return `unreadable “${String(action.text).slice(0, 60)}”`;
    default: return action?.kind ? action.kind.toLowerCase() : "";
  }
}
