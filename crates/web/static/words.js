// What the scripts say. All other words come from the server.

export const COPIED = "Copied";
export const NO_ANSWER = "The server did not answer. Reload the page to see whether anything was changed.";
export const NO_TEXT = "The server did not answer.";
export const LIVE = "Live";
export const NOT_LIVE = "Not live.";
export const notLive = (seconds) => `Not live: trying again in ${seconds} s.`;
export const noNewsSince = (time) => `No connection to the server since ${time}. What this page says may be out of date.`;
export const killed = (agent) => `${agent} is stopped by the kill switch`;
export const seeIncident = "See the incident";
export const inLocalTime = (time, utc) => `${time}\n${utc} (UTC)`;

/** How long ago something was. The server says it the same way. */
export function ago(seconds) {
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}
