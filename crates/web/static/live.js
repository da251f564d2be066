// Keeps the page live: whatever happens, the server draws the page again and its <main> replaces ours.

const RELOAD_AFTER_MS = 400;
const RETRY_MS = 4000;
const EVENTS = ["call", "blocked", "kill", "activated", "deactivated", "incident", "configured", "lagged"];

const connection = document.getElementById("connection");
let scheduled = false;

/** Asks for the page once, however many events come in the meantime. */
function schedule() {
  if (scheduled || document.hidden) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    reload();
  }, RELOAD_AFTER_MS);
}

/** Fetches the page. Parsed by the browser as a document of its own, so nothing in it can run here. */
function reload() {
  const request = new XMLHttpRequest();
  request.open("GET", location.pathname);
  request.responseType = "document";
  request.onload = () => {
    const fresh = request.response?.getElementById("main");
    if (request.status === 200 && fresh) replace(document.adoptNode(fresh));
    else if (!fresh) location.reload();
  };
  request.send();
}

/** Puts the fresh main in place; rows that are new or differ flash once. */
function replace(fresh) {
  const before = new Map();
  for (const row of document.querySelectorAll("tr[data-key] .badge")) before.set(key(row), row.textContent);
  document.getElementById("main").replaceWith(fresh);
  for (const badge of fresh.querySelectorAll("tr[data-key] .badge")) {
    if (before.get(key(badge)) !== badge.textContent) badge.closest("tr").classList.add("changed");
  }
}

function key(badge) {
  return badge.closest("tr").dataset.key;
}

function connect() {
  const stream = new EventSource("/api/stream");
  stream.onopen = () => {
    connection.textContent = "Live";
    schedule();
  };
  stream.onerror = () => {
    stream.close();
    connection.textContent = `Not live: trying again in ${RETRY_MS / 1000} s.`;
    setTimeout(connect, RETRY_MS);
  };
  for (const event of EVENTS) stream.addEventListener(event, schedule);
}

document.addEventListener("visibilitychange", schedule);
connect();
