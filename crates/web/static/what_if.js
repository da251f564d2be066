// Answers the what-if at once while its sliders move. Without this, its button asks for the page again.

import { refresh } from "./patch.js";

export function enhanceWhatIf() {
  const form = document.getElementById("what-if-form");
  if (!form) return;
  // It is answered before anyone could press this.
  form.querySelector("button").hidden = true;
  if (location.search.includes("threshold=")) keep(form);
  let asking = false;
  let again = false;
  const ask = async () => {
    if (asking) return (again = true);
    asking = true;
    const query = new URLSearchParams(new FormData(form));
    // In the address too, so that what happens meanwhile is drawn with these settings.
    history.replaceState(null, "", `${location.pathname}?${query}`);
    await refresh().catch(() => {});
    asking = false;
    if (again) {
      again = false;
      ask();
    }
  };
  form.addEventListener("input", ({ target }) => {
    keep(form);
    const shown = document.getElementById(`${target.id}-value`);
    if (shown) shown.textContent = target.value;
    ask();
  });
}

/** Sliders that were moved are the viewer's: no answer of the server moves them back. */
function keep(form) {
  form.dataset.keep = "";
}
