// Turns one tree of elements into another by changing only what differs, so that focus, selection, scroll positions and what
// was unfolded stay. Rows are recognised by `data-key`; one that is new or differs flashes once.

import { localise } from "./local.js";

const CALM = matchMedia("(prefers-reduced-motion: reduce)");

/** Asks for a page. The browser parses it as a document of its own, so nothing in it can run here. */
export function load(url, fields) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(fields ? "POST" : "GET", url);
    request.responseType = "document";
    request.onload = () => {
      if (request.response?.getElementById("main")) resolve({ page: request.response, url: request.responseURL });
      else reject(new Error("no page"));
    };
    request.onerror = () => reject(new Error("no answer"));
    request.send(fields);
  });
}

/** The page of an address as the server told it last: its version and its text. */
let known = { url: "", version: "none", text: "" };

function forget() {
  known = { url: "", version: "none", text: "" };
}

/** The login came instead of the page. */
export class SessionEnded extends Error {}

const ANSWER_MS = 30_000;

/** Asks for a page again; the server sends only what differs from the one that is known. `null` if nothing does. */
async function loadChanges(url) {
  const base = known.url === url ? known : { url, version: "none", text: "" };
  const headers = { accept: "text/html", "x-agentgazer-page": base.version };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
  if (answer.status === 204) return null;
  if (answer.redirected) throw new SessionEnded();
  if (answer.status >= 500) throw new Error("no page");
  const isDelta = answer.headers.get("content-type").startsWith("application/json");
  const text = isDelta ? apply(base.text, await answer.json()) : await answer.text();
  known = { url, version: answer.headers.get("x-agentgazer-page") ?? "none", text };
  return { page: parse(text), isProblem: !answer.ok };
}

/** Makes the new text from the old one: lists of two numbers are lines to copy, others are new lines. */
function apply(old, steps) {
  const lines = old.split("\n");
  const fresh = steps.map((step) => (typeof step[0] === "number" ? lines.slice(step[0], step[0] + step[1]) : step));
  return fresh.flat().join("\n");
}

const TRUSTED = globalThis.trustedTypes?.createPolicy("agentgazer", { createHTML: (text) => text });

/** The text as a document of its own, in which nothing runs. */
function parse(text) {
  const page = new DOMParser().parseFromString(TRUSTED ? TRUSTED.createHTML(text) : text, "text/html");
  if (!page.getElementById("main")) throw new Error("no page");
  return page;
}

/** Counts the questions that were asked for this page. */
let asked = 0;

/** Asks for this page as its address says now, and brings its live parts up to date. An answer that comes after a newer
 * question was asked is not drawn: the newer one knows more, and may be about other settings. */
export async function refresh() {
  const question = ++asked;
  const changes = await loadChanges(location.href.split("#")[0]);
  if (!changes) return;
  const { page, isProblem } = changes;
  // What is not drawn must not be taken for what the page shows.
  if (question !== asked) forget();
  // What the page was about is gone, or this viewer may not see it any more.
  else if (isProblem) patchPage(page);
  else patchLive(page);
}

/** Brings the parts of this page that are live up to date with `fresh`. */
function patchLive(fresh) {
  document.title = fresh.title;
  for (const part of document.querySelectorAll("[data-live][id]")) {
    const other = fresh.getElementById(part.id);
    if (other) patch(part, other);
  }
  localise(document);
}

/** Makes this page what `fresh` is, and answers that are still on their way outdated. */
export function patchPage(fresh) {
  asked += 1;
  forget();
  document.title = fresh.title;
  document.documentElement.dataset.theme = fresh.documentElement.dataset.theme;
  patch(document.body, fresh.body);
  localise(document);
}

function patch(old, fresh) {
  if (old.hasAttribute("data-keep")) return;
  // The server leaves out how long ago something was: it changes every second, and it is written here.
  if (old.localName === "time" && old.dateTime === fresh.dateTime) return;
  patchAttributes(old, fresh);
  patchChildren(old, fresh);
}

function patchAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    // What the viewer unfolded stays so, and so does what a script showed.
    if (name === "open" || name === "hidden") continue;
    if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (name === "hidden") continue;
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old instanceof HTMLInputElement) {
    old.value = fresh.value;
    old.checked = fresh.checked;
  }
  if (old instanceof HTMLSelectElement) queueMicrotask(() => (old.value = fresh.value));
}

function patchChildren(old, fresh) {
  const keyed = new Map([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let place = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    const match = matching(child, place, keyed);
    if (!match) {
      old.insertBefore(flash(document.importNode(child, true)), place);
      continue;
    }
    if (match === place) place = place.nextSibling;
    else old.insertBefore(match, place);
    if (match.nodeType === Node.ELEMENT_NODE) update(match, child);
    else if (match.nodeValue !== child.nodeValue) match.nodeValue = child.nodeValue;
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/** The node that `child` is the new form of: by its key, or the one that stands in its place. */
function matching(child, place, keyed) {
  const key = keyOf(child);
  if (key) {
    const match = keyed.get(key);
    return match?.nodeName === child.nodeName ? match : null;
  }
  return place && place.nodeName === child.nodeName && !keyOf(place) ? place : null;
}

function update(old, fresh) {
  const state = old.matches("tr[data-key]") ? stateOf(old) : null;
  patch(old, fresh);
  if (state !== null && state !== stateOf(old)) flash(old);
}

/** What of a row is worth a flash: its badge. */
function stateOf(row) {
  return row.querySelector(".badge")?.textContent ?? "";
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id : "";
}

function flash(node) {
  if (!CALM.matches && node instanceof HTMLTableRowElement && node.dataset.key) {
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--flash");
    node.animate([{ backgroundColor: colour }, { backgroundColor: "transparent" }], 1500);
  }
  return node;
}
