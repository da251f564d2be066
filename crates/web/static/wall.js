// Shows the incidents on the wall in turn. Without this, or if motion is not wanted, all of them are listed.

const TURN_MS = 8_000;
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
let at = -1;

function turn() {
  // Looked for each time: there is no list before the first incident.
  const items = [...(document.getElementById("rotating")?.children ?? [])];
  at = items.length ? (at + 1) % items.length : -1;
  items.forEach((item, place) => (item.hidden = place !== at));
}

if (!CALM.matches) {
  turn();
  setInterval(turn, TURN_MS);
}
