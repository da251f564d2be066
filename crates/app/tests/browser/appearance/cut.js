// What is cut, or reaches over the edge of the window. What scrolls by its nature does so in itself: texts, and pictures of
// calls; a long name ends in dots.
const scrolls = (element) => element.closest("pre, .timeline, .what-if .scroll, .unseen, .skip, .chart details, svg");
const clipped = (element) => element.parentElement?.closest(".who") || scrolls(element);
const found = [];
for (const box of document.querySelectorAll(".scroll")) {
  if (scrolls(box) || box.scrollWidth <= box.clientWidth + 1) continue;
  found.push(`a table is cut: ${box.scrollWidth} of ${box.clientWidth}: ${box.textContent.trim().slice(0, 60)}`);
}
for (const element of document.querySelectorAll("main *")) {
  const { right, width } = element.getBoundingClientRect();
  if (!width || right <= innerWidth + 1 || clipped(element) || !element.checkVisibility()) continue;
  found.push(`over the edge: ${element.outerHTML.slice(0, 100)}`);
}
// Text without room: its cell is narrower than two characters.
for (const cell of document.querySelectorAll("main :is(td, th, li, dd, p)")) {
  if (cell.textContent.trim().length < 3 || cell.querySelector(".unseen") || scrolls(cell) || !cell.checkVisibility() || cell.getBoundingClientRect().width >= 16) continue;
  found.push(`no room: ${cell.outerHTML.slice(0, 100)}`);
}
return found.slice(0, 5);
