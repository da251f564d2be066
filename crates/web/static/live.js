// Follows what happens on the server. One browser has one event stream, however many pages are open: the page that holds the
// lock has it and tells the others.

import { notifyKill } from "./notify.js";
import { refresh } from "./patch.js";
import { LIVE, noNewsSince, notLive } from "./words.js";

const REFRESH_MS = 300;
/** While calls come in all the time, the page is brought up to date this often. */
const BUSY_MS = 4_000;
const RETRY_S = 4;

const channel = new BroadcastChannel("agentgazer");
/** The refresh to come, and when it is due. */
let timer = null;
let dueAt = 0;
let asking = false;
let missed = false;
let paused = false;
let connected;
let lastNews = new Date();
let refreshedAt = 0;

/** Starts to follow. */
export function follow() {
  channel.onmessage = ({ data }) => hear(data);
  // The lock is given up when the page goes away; then another page of this browser takes over. Without secure context
  // there are no locks, and each page has a stream of its own.
  if (navigator.locks) navigator.locks.request("agentgazer-stream", () => new Promise(connect));
  else connect();
  channel.postMessage({ ask: true });
  document.addEventListener("visibilitychange", () => missed && schedule());
  enhancePause();
}

function connect() {
  const stream = new EventSource("/api/stream?changes=true");
  stream.onopen = () => tell({ state: "live" });
  stream.onerror = () => {
    stream.close();
    countDown(RETRY_S);
  };
  stream.addEventListener("changed", ({ data }) => tell({ event: "changed", ...JSON.parse(data) }));
  stream.addEventListener("kill", ({ data }) => notifyKill(JSON.parse(data)));
}

function countDown(seconds) {
  if (seconds === 0) return reconnect();
  tell({ state: "lost", seconds });
  setTimeout(countDown, 1000, seconds - 1);
}

/** Connects again; if the session has ended meanwhile, shows the login instead. */
async function reconnect() {
  const answer = await fetch("/api/agents?limit=1").catch(() => null);
  if (answer?.status === 401) location.reload();
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
  if (message.event || message.state === "live") lastNews = new Date();
  if (message.state) show(message);
  if (message.state === "live" || isAboutThisPage(message)) schedule(message.state === "live" || message.urgent);
}

function isAboutThisPage({ event, agents }) {
  const watched = document.getElementById("main").dataset.agent;
  return event && (!watched || !agents || agents.includes(watched));
}

function show({ state, seconds }) {
  const element = document.getElementById("connection");
  const text = state === "live" ? LIVE : notLive(seconds);
  element.className = state;
  if (element.textContent !== text) element.textContent = text;
  showLost(state !== "live");
}

/** Says at the top that the page is out of date: a page without a server must not look calm. */
function showLost(isLost) {
  const banner = document.getElementById("lost");
  const text = isLost ? noNewsSince(lastNews.toLocaleTimeString()) : "";
  if (banner.textContent !== text) banner.textContent = text;
  banner.hidden = !isLost;
  document.getElementById("main").classList.toggle("stale", isLost);
}

/** Asks for the page once, however many events come in the meantime; not while nobody looks. */
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
  } catch {
    // No page came: the session has ended, or the server is gone, which the stream will tell.
    if (connected?.state === "live") location.reload();
  }
  // Only now: however slow the server is, one question at a time.
  asking = false;
  refreshedAt = Date.now();
  if (missed) schedule();
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
