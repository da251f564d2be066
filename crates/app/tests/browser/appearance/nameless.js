// What can be operated or looked at and has no name for a screen reader.
const named = (element) =>
  element.getAttribute("aria-label") ||
  element.textContent.trim() ||
  element.labels?.length ||
  element.getAttribute("aria-labelledby") ||
  element.getAttribute("title");
const shown = [...document.querySelectorAll("a, button, input:not([type=hidden]), select, summary, svg[role=img], section")];
return shown.filter((element) => !named(element)).map((element) => element.outerHTML.slice(0, 120));
