// The texts whose contrast with what is behind them is below 4.5 (3 for large ones), as WCAG measures it.
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = (top, below) => top.slice(0, 3).map((part, at) => part * top[3] + below[at] * (1 - top[3])).concat(1);
const light = (colour) => {
  const [r, g, b] = colour.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
};
const poor = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  const text = walker.currentNode.nodeValue.trim();
  if (!text || !element.checkVisibility() || element.closest("script, .unseen, title")) continue;
  const style = getComputedStyle(element);
  const ground = behind(element.closest("svg") ?? element);
  const ink = over(rgba(element.closest("svg") ? style.fill : style.color), ground);
  const [bright, dark] = [light(ink), light(ground)].sort((one, other) => other - one);
  const ratio = (bright + 0.05) / (dark + 0.05);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (isLarge ? 3 : 4.5)) poor.add(`${text.slice(0, 40)}: ${ratio.toFixed(2)} (${element.tagName}.${element.className})`);
}
return [...poor];
