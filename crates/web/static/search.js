// The search over any page, with Ctrl and K (on a Mac: Command and K). It shows what the page /search finds.

import { localise } from "./local.js";
import { load } from "./patch.js";

const PAUSE_MS = 150;

let timer;
let asked = 0;
/** The text whose results are listed. */
let listed = null;

export function enhanceSearch() {
  const dialog = document.getElementById("search-dialog");
  // The wall has none.
  if (!dialog) return;
  const field = dialog.querySelector("input");
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(dialog, field);
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-search]") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    open(dialog, field);
  });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, PAUSE_MS, dialog, field.value);
  });
  dialog.addEventListener("keydown", (event) => move(event, dialog));
  // A click beside it closes it.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

function open(dialog, field) {
  if (dialog.open) return field.select();
  dialog.showModal();
  field.select();
  find(dialog, field.value);
}

/** Shows what was found; an answer that comes after a newer question is not drawn. */
async function find(dialog, text) {
  const question = ++asked;
  const { page } = await load(`/search?text=${encodeURIComponent(text)}`).catch(() => ({}));
  const found = page?.getElementById("found");
  if (!found || question !== asked) return;
  const place = dialog.querySelector("[data-found]");
  place.replaceChildren(...[...found.childNodes].map((node) => document.importNode(node, true)));
  localise(place);
  listed = text;
}

/** Escape closes it, also while something is typed, which some browsers would only clear. Arrows go from one to the next, Enter
 * in the field opens the first. If the results of what was typed are not here yet,
 * Enter sends the form, which leads to the page with them. */
function move(event, dialog) {
  if (event.key === "Escape") {
    event.preventDefault();
    return dialog.close();
  }
  const links = [...dialog.querySelectorAll("[data-found] a")];
  const place = links.indexOf(document.activeElement);
  if (event.key === "Enter" && place < 0 && links.length > 0 && listed === dialog.querySelector("input").value) {
    event.preventDefault();
    location.assign(links[0].href);
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const next = place + (event.key === "ArrowDown" ? 1 : -1);
  (next < 0 ? dialog.querySelector("input") : links[Math.min(next, links.length - 1)])?.focus();
}
