// Sends forms without leaving the page, copies texts, and submits a filter when it is chosen.

import { load, patchPage, refresh } from "./patch.js";
import { COPIED, NO_ANSWER, NO_TEXT } from "./words.js";

export function enhance() {
  document.addEventListener("submit", onSubmit);
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  document.addEventListener("change", ({ target }) => submitForm(target.closest("[data-submit]")?.form));
  showCopyButtons();
  enhanceSelectAll();
  openTarget();
  addEventListener("hashchange", openTarget);
  addEventListener("popstate", onWayBack);
  forgetDone();
}

/** Sends a form as its button does, which may keep the order of the list. */
function submitForm(form) {
  form?.requestSubmit(form.querySelector("button:not([type=button])"));
}

/** Sends a form and shows the page that it leads to, where we are. */
async function onSubmit(event) {
  const form = event.target;
  if (form.method !== "post" || form.hasAttribute("data-plain")) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  // Not form.action: a field of that name stands in its way.
  const target = new URL(form.getAttribute("action"), location.href).href;
  form.setAttribute("aria-busy", "true");
  try {
    const { page, url } = await load(target, fields);
    const stays = new URL(url).pathname === location.pathname;
    if (!stays && url !== target) return location.assign(url);
    moveTo(form.dataset.page);
    patchPage(page);
    showCopyButtons();
    if (form.hasAttribute("data-reset")) form.reset();
    // What is live goes by the address here: a filter, or the settings that are tried.
    if (location.search) refresh().catch(() => {});
    document.querySelector("[role=alertdialog] button, [role=alert]:not([hidden]), #tested")?.scrollIntoView({ block: "center" });
  } catch {
    document.getElementById("notice").textContent = NO_ANSWER;
  } finally {
    form.removeAttribute("aria-busy");
  }
}

/** The path of the page that is shown. */
let shown = location.pathname;

/** Gives an answer that belongs to another page the address of that page: what is live is asked for by it. */
function moveTo(path) {
  if (!path || path === location.pathname) return;
  history.pushState(null, "", path);
  shown = path;
}

/** The way back from there leads to another page, which is not here any more. */
function onWayBack() {
  if (location.pathname !== shown) location.reload();
}

/** Escape closes what was opened last: the one that has the focus, or else any that lies over the page. */
function onKey({ key }) {
  if (key !== "Escape") return;
  const focused = document.activeElement?.closest("details[open]");
  const open = focused ?? document.querySelector("details:is(.confirm, .drop)[open], #navigation details[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
}

async function onClick(event) {
  const { target } = event;
  const shower = target.closest("[data-show]");
  if (shower) return showBelow(event, shower);
  const button = target.closest("[data-copy], [data-copy-from]");
  if (!button) return;
  const { copy, copyFrom } = button.dataset;
  const text = copy ? document.getElementById(copy).textContent : await textOf(copyFrom);
  if (text === null) return;
  await navigator.clipboard.writeText(text);
  button.dataset.before ??= button.textContent;
  button.textContent = COPIED;
  setTimeout(() => (button.textContent = button.dataset.before), 1500);
}

/** The text at an address, or `null` if there is no answer. */
async function textOf(url) {
  const answer = await fetch(url).catch(() => null);
  return answer?.ok ? answer.text() : null;
}

/** Shows the text that a link leads to below it, and hides it again. A click that opens a tab or a window still does that. */
async function showBelow(event, link) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const element = document.getElementById(link.dataset.show);
  if (element.hidden) {
    const text = await textOf(link.href);
    element.textContent = text ?? NO_TEXT;
  }
  element.hidden = !element.hidden;
  link.setAttribute("aria-expanded", String(!element.hidden));
}

/** Copying needs a secure context; where there is none, there is no button. */
function showCopyButtons() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy], [data-copy-from]")) button.hidden = false;
}

/** One box that selects all: without script each has its own. */
function enhanceSelectAll() {
  for (const all of document.querySelectorAll("[data-select-all]")) {
    all.hidden = false;
    all.addEventListener("change", () => {
      const form = document.getElementById(all.dataset.selectAll);
      for (const field of form.elements) if (field.type === "checkbox") field.checked = all.checked;
    });
  }
}

/** Unfolds what the address names. */
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}

/** What was done is said once, not again after a reload. */
function forgetDone() {
  const url = new URL(location.href);
  if (!url.searchParams.has("done")) return;
  url.searchParams.delete("done");
  url.searchParams.delete("undo");
  history.replaceState(null, "", url);
}
