// Tells of a kill outside the page, if the viewer has allowed it.

import { killed, seeIncident } from "./words.js";

/** Shows the button that asks for it, where it has not been answered yet. */
export function offerNotifications() {
  const button = document.getElementById("notifications");
  if (!button || !("Notification" in globalThis) || Notification.permission !== "default") return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await Notification.requestPermission();
    button.hidden = Notification.permission !== "default";
  });
}

/** Called in one page of this browser only: the one that has the stream. */
export function notifyKill({ agent_id: agent, incident_id: incident }) {
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
  const note = new Notification(killed(agent), { body: seeIncident, tag: incident });
  note.onclick = () => {
    window.focus();
    location.assign(incident ? `/incidents/${encodeURIComponent(incident)}` : `/agents/${encodeURIComponent(agent)}`);
  };
}
