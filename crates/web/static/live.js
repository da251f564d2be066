// Follows what happens on the server. One browser has one event stream, however many pages are open: the page that holds the
// lock has it and tells the others.

import { notifyKill } from "./notify.js";
import { refresh, SessionEnded } from "./patch.js";
import { LIVE, NOT_LIVE, noNewsSince, notLive } from "./words.js";

const REFRESH_MS = 300;
/** While calls come in all the time, the page is brought up to date this often. */
const BUSY_MS = 4_000;
/** Without calls it is brought up to date this often: an alert that fails or a disk that is full is no call. */
const QUIET_MS = 15_000;
const RETRY_S = 4;
/** The server says every 5 s that it is there. After a longer silence it is gone, even if no connection ended. */
const SILENCE_MS = 16_000;
const CHECK_MS = 2_000;
const ANSWER_MS = 10_000;

const channel = new BroadcastChannel("agentgazer");
/** The refresh to come, and when it is due. */
let timer = null;
let dueAt = 0;
let asking = false;
let missed = false;
let paused = false;
let connected;
let isLive = false;
/** Whether the page came when it was asked for last. */
let answers = true;
/** Ends the stream that this page has, and tries again. */
let loseStream = null;
/** Until when this page is up to date. */
let lastNews = new Date();
/** When the server was last heard of or asked. */
let heardAt = Date.now();
let refreshedAt = Date.now();

/** Starts to follow. */
export function follow() {
  channel.onmessage = ({ data }) => hear(data);
  // The lock is given up when the page goes away; then another page of this browser takes over. Without secure context
  // there are no locks, and each page has a stream of its own.
  if (navigator.locks) navigator.locks.request("agentgazer-stream", () => new Promise(connect));
  else connect();
  channel.postMessage({ ask: true });
  document.addEventListener("visibilitychange", () => missed && schedule());
  setInterval(checkSilence, CHECK_MS);
  enhancePause();
}

function connect() {
  heardAt = Date.now();
  const stream = new EventSource("/api/stream?changes=true");
  loseStream = () => {
    loseStream = null;
    stream.close();
    countDown(RETRY_S);
  };
  stream.onopen = () => tell({ state: "live" });
  stream.onerror = () => loseStream?.();
  stream.addEventListener("alive", () => tell({ event: "alive" }));
  stream.addEventListener("changed", ({ data }) => tell({ event: "changed", ...JSON.parse(data) }));
  stream.addEventListener("kill", ({ data }) => notifyKill(JSON.parse(data)));
}

/** A server that hangs ends no connection, and neither does a computer that slept. */
function checkSilence() {
  if (Date.now() - heardAt < SILENCE_MS) return;
  if (loseStream) loseStream();
  else if (isLive) show({ state: "lost" });
}

function countDown(seconds) {
  if (seconds === 0) return reconnect();
  tell({ state: "lost", seconds });
  setTimeout(countDown, 1000, seconds - 1);
}

/** Connects again; if the session has ended meanwhile, shows the login instead. */
async function reconnect() {
  const answer = await fetch("/api/agents?limit=1", { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
  if (!answer) countDown(RETRY_S);
  else if (answer.status === 401) location.reload();
  else connect();
}

/** Tells this page and the others. */
function tell(message) {
  if (message.state) connected = message;
  channel.postMessage(message);
  hear(message);
}

function hear(message) {
  if (message.ask && connected) channel.postMessage(connected);
  heardAt = Date.now();
  if (answers && (message.event || message.state === "live")) lastNews = new Date();
  if (message.state) show(message);
  // A page that missed when the connection came back hears now that it is there.
  else if (message.event && !isLive) show({ state: "live" });
  if (message.state === "live" || isAboutThisPage(message)) schedule(message.state === "live" || message.urgent);
}

function isAboutThisPage({ event, agents, urgent }) {
  if (event === "alive") return Date.now() - refreshedAt >= QUIET_MS;
  // A kill of any agent is in the title and the menu of every page.
  if (urgent) return true;
  const watched = document.getElementById("main").dataset.agent;
  return event && (!watched || !agents || agents.includes(watched));
}

function show({ state, seconds }) {
  isLive = state === "live";
  draw(seconds);
}

/** Says whether the page is up to date: a page without a server must not look calm. */
function draw(seconds) {
  const isLost = !isLive || !answers;
  const element = document.getElementById("connection");
  const state = isLost ? (seconds ? notLive(seconds) : NOT_LIVE) : LIVE;
  element.className = isLost ? "lost" : "live";
  if (element.textContent !== state) element.textContent = state;
  const banner = document.getElementById("lost");
  const text = isLost ? noNewsSince(lastNews.toLocaleTimeString()) : "";
  if (banner.textContent !== text) banner.textContent = text;
  banner.hidden = !isLost;
  document.getElementById("main").classList.toggle("stale", isLost);
}

/** Asks for the page once, however many events come in the meantime; not while it is hidden. */
function schedule(isUrgent = false) {
  missed = true;
  if (paused || document.hidden) return;
  const pause = isUrgent ? 0 : refreshedAt + BUSY_MS - Date.now();
  const due = Date.now() + Math.max(REFRESH_MS, pause);
  if (asking || (timer && due >= dueAt)) return;
  clearTimeout(timer);
  dueAt = due;
  timer = setTimeout(catchUp, due - Date.now());
}

async function catchUp() {
  timer = null;
  missed = false;
  asking = true;
  try {
    await refresh();
    answers = true;
    lastNews = new Date();
  } catch (error) {
    if (error instanceof SessionEnded) return location.reload();
    // Nothing came: what stands here may be out of date, and it is asked for again.
    answers = false;
    missed = true;
  }
  draw();
  // Only now: however slow the server is, one question at a time.
  asking = false;
  refreshedAt = Date.now();
  if (missed && isLive) schedule();
}

function enhancePause() {
  const button = document.getElementById("pause");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    if (!paused && missed) schedule();
  });
}
