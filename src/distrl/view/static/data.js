// Where the page's figures come from: the server's data/, or the same files of a bundle. Only relative addresses.

const known = new Map(); // of what never changes

export async function load(path, { lasting = false } = {}) {
  if (lasting && known.has(path)) return known.get(path);
  const answer = await fetch(`data/${path}`);
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 400) || `${answer.status}`);
  const content = await answer.json();
  if (lasting) known.set(path, content);
  return content;
}

export const screenAddress = (run, seq, step) => `data/${encodeURIComponent(run)}/screen/${seq}-${step}.jpg`;
export const of = (run, rest) => `${encodeURIComponent(run)}/${rest}`;

// Server-sent events of a run: `phones` and `tick`. A bundle has none; then `lost` is called, once.
// Without `phones` it is asked for ticks alone: then no phone has to show itself. The one `followed` shows itself larger.
export function watch(run, { phones, followed, tick, lost }) {
  const asked = new URLSearchParams(phones ? (followed ? { follow: followed } : {}) : { phones: "0" });
  const source = new EventSource(`live/${encodeURIComponent(run)}${asked.size ? `?${asked}` : ""}`);
  source.addEventListener("phones", (event) => phones?.(JSON.parse(event.data).map((each) => ({ ...each.state, picture: each.picture }))));
  source.addEventListener("tick", (event) => tick?.(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) lost?.();
  });
  return () => source.close();
}
