// Times and numbers in the viewer's own zone and language. The exact values come from the server in the elements' attributes.

import { ago, inLocalTime } from "./words.js";

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: "numeric" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const WHOLE = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const REFRESH_MS = 10_000;

/** Writes every time and number below `root` the way this viewer reads it. */
export function localise(root) {
  for (const element of root.querySelectorAll("time[datetime]")) showTime(element);
  for (const element of root.querySelectorAll("data[value]")) showNumber(element);
  for (const element of root.querySelectorAll("svg [data-at]")) showAxis(element);
}

/** Tells the server how far from UTC this viewer's day begins. */
export function tellOffset() {
  const minutes = -new Date().getTimezoneOffset();
  document.cookie = `agentgazer_offset=${minutes}; path=/; SameSite=Lax; max-age=31536000`;
}

function showTime(element) {
  const then = new Date(element.dateTime);
  if (Number.isNaN(then.getTime())) return;
  element.title = inLocalTime(EXACT.format(then), element.dateTime);
  const { clock, hour } = element.dataset;
  const text = hour !== undefined ? hourOf(then) : clock !== undefined ? CLOCK.format(then) : ago((Date.now() - then) / 1000);
  if (element.textContent !== text) element.textContent = text;
}

/** Of what is only known to the hour: how many minutes ago it was is not. */
function hourOf(then) {
  const isToday = then.toDateString() === new Date().toDateString();
  return isToday ? HOUR.format(then) : `${DAY.format(then)}, ${HOUR.format(then)}`;
}

function showNumber(element) {
  const number = Number(element.value);
  element.title = WHOLE.format(number);
  // The server writes 12.4k, too: nothing changes under the eyes of who reads English.
  element.textContent = number < 1000 ? WHOLE.format(number) : SHORT.format(number).replace(/K$/, "k");
}

/** A time in a picture: the label of an axis, or what a bar says on hover. */
function showAxis(element) {
  const at = new Date(element.dataset.at);
  const [, value] = element.textContent.split(/Z: /);
  const isHour = element.ownerSVGElement.parentElement.dataset.span === "hour";
  if (value) element.textContent = `${EXACT.format(at)}: ${value}`;
  else if (element.localName === "text") element.textContent = (isHour ? HOUR : DAY).format(at);
}

setInterval(() => localise(document), REFRESH_MS);
