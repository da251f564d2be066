// Shows the incidents on the wall in turn. Without this, or if motion is not wanted, all of them are listed.

const TURN_MS = 8_000;
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const list = document.getElementById("rotating");
let at = 0;

function turn() {
  const items = [...list.children];
  at = items.length ? (at + 1) % items.length : 0;
  items.forEach((item, place) => (item.hidden = place !== at));
}

if (list && !CALM.matches) {
  at = -1;
  turn();
  setInterval(turn, TURN_MS);
}
