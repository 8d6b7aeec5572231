// The model, helpers that format numbers and names, and helpers that make elements. Names are only ever set as text.
"use strict";

const model = JSON.parse(document.getElementById("model").textContent);
const sides = model.sides;
const last = sides.length - 1;
const isComparison = model.changes !== null;

/** Whether a count is an estimate. In the JSON that is text behind a tilde. */
function isEstimate(count) {
  return String(count).startsWith("~");
}

/** A count as a number. In the JSON, a count with too many digits is text. */
function value(count) {
  if (count === null || count === undefined) return 0;
  return Number(isEstimate(count) ? count.slice(1) : count);
}

/** A count with all its digits, in groups of three. */
function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A count, shortened. */
function short(count) {
  const number = value(count);
  if (number < 10000) return String(Math.round(number));
  const power = Math.min(Math.floor(Math.log10(number) / 3), 6);
  const digits = (number / 1000 ** power).toPrecision(3);
  return `${digits}\u202f${["", "k", "M", "G", "T", "P", "E"][power]}`;
}

/** A share as a percentage. */
function percent(share) {
  if (share > 0 && share < 0.00005) return "< 0.01\u202f%";
  return `${(share * 100).toFixed(2)}\u202f%`;
}

/** A function's share of all counts of a side; null if the side does not have it. */
function share(number, side = last) {
  const total = sides[side].totals[number];
  if (total === null) return null;
  const all = value(sides[side].total);
  return all > 0 ? value(total) / all : 0;
}

function name(symbol) {
  return model.names[symbol] ?? "?";
}

const shorts = new Map(model.shorts);

/** The short form of a long name. */
function shortName(symbol) {
  return shorts.get(symbol) ?? name(symbol);
}

/** The records of a function's body on a side; null if the page does not have them. */
function body(number, side) {
  const text = sides[side].bodies[number];
  return text ? JSON.parse(text) : null;
}

/** The longest folder that all files of functions share, except those of the system. */
const folder = (() => {
  const own = new Set(model.declared.slice(0, model.functions).map(([file]) => file));
  const paths = [...own].filter((file) => file >= 0).map((file) => model.files[file]);
  const local = paths.filter((path) => !path.startsWith("/usr/"));
  if (local.length === 0) return "";
  const parts = local[0].split("/").slice(0, -1);
  let length = parts.length;
  for (const path of local) {
    const others = path.split("/").slice(0, -1);
    length = Math.min(length, others.length);
    while (length > 0 && parts.slice(0, length).some((part, at) => part !== others[at])) length--;
  }
  return length > 0 ? `${parts.slice(0, length).join("/")}/` : "";
})();

/** The path of a symbol's file, relative to the shared folder. */
function file(symbol) {
  const [number] = model.declared[symbol];
  if (number < 0) return "";
  const path = model.files[number];
  return folder && path.startsWith(folder) ? path.slice(folder.length) : path;
}

/** An element. Attributes whose names start with `--` are variables of its style; functions are listeners. */
function element(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag);
  if (classes.length > 0) made.className = classes.join(" ");
  for (const [key, of] of Object.entries(attributes)) {
    if (of === null || of === undefined || of === false) continue;
    if (typeof of === "function") made.addEventListener(key, of);
    else if (key.startsWith("--")) made.style.setProperty(key, of);
    else made.setAttribute(key, of === true ? "" : of);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** An element of a drawing. */
function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, of] of Object.entries(attributes)) made.setAttribute(key, of);
  made.append(...children);
  return made;
}

/** A function's name as a link to it. */
function link(symbol, more = null) {
  const shown = element("bdi.name", {}, shortName(symbol));
  const title = shorts.has(symbol) ? name(symbol) : null;
  return symbol < model.functions
    ? element("a", { href: `#f${symbol}`, title }, shown, more)
    : element("span", { title }, shown, more);
}

/** How much a share changed: from -1, a quarter or less, to 1, four times or more. */
function moved(before, now) {
  if (before === now) return 0;
  if (!before) return 1;
  if (!now) return -1;
  return Math.max(-1, Math.min(1, Math.log2(now / before) / 2));
}

/** A button that adds the next part of a list, until the list is complete. */
function more(all, step, add) {
  let shown = 0;
  const button = element("button.more", { type: "button" });
  const next = () => {
    const focused = document.activeElement === button;
    const first = add(shown, Math.min(shown + step, all));
    shown = Math.min(shown + step, all);
    button.hidden = shown >= all;
    button.textContent = `Show ${Math.min(step, all - shown)} more of ${grouped(all - shown)}`;
    if (focused && button.hidden && first) first.focus();
  };
  button.addEventListener("click", next);
  next();
  return button;
}
