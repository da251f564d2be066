// Times and numbers in the viewer's own zone and language. The exact values come from the server in the elements' attributes.

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const WHOLE = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const REFRESH_MS = 10_000;

/** Writes every time and number below `root` the way this viewer reads it. */
export function localise(root) {
  for (const element of root.querySelectorAll("time[datetime]")) showTime(element);
  for (const element of root.querySelectorAll("data[value]")) showNumber(element);
}

/** Tells the server how far from UTC this viewer's day begins. */
export function tellOffset() {
  const minutes = -new Date().getTimezoneOffset();
  if (!document.cookie.includes(`agentgazer_offset=${minutes};`)) {
    document.cookie = `agentgazer_offset=${minutes}; path=/; SameSite=Strict; max-age=31536000`;
  }
}

function showTime(element) {
  const then = new Date(element.dateTime);
  if (Number.isNaN(then.getTime())) return;
  element.title = `${EXACT.format(then)}\n${element.dateTime} (UTC)`;
  const text = ago((Date.now() - then) / 1000);
  if (element.textContent !== text) element.textContent = text;
}

function showNumber(element) {
  const number = Number(element.value);
  element.title = WHOLE.format(number);
  element.textContent = number < 1000 ? WHOLE.format(number) : SHORT.format(number);
}

function ago(seconds) {
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

setInterval(() => localise(document), REFRESH_MS);
