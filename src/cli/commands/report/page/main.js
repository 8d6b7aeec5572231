// Starts the page: the theme, the parts of the page, and the choice of the part to show.
"use strict";

const themes = ["system", "light", "dark"];

function startTheme() {
  const button = document.getElementById("theme");
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  let theme = "system";
  // A browser may forbid storage for pages from files.
  try {
    theme = themes.find((known) => known === localStorage.getItem("countersink-theme")) ?? "system";
  } catch {}
  set(theme);
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    set(theme);
    try {
      localStorage.setItem("countersink-theme", theme);
    } catch {}
  });
}

/** Shows the function, the file or the part of the overview that the address names. */
function route() {
  const overview = document.getElementById("overview");
  const article = document.getElementById("function");
  const [, kind, digits] = /^#([fs])(\d+)$/.exec(location.hash) ?? [];
  const number = Number(digits);
  const isOne = kind === "f" ? number < model.functions : kind === "s" && number < model.coverage?.files.length;
  if (isOne && overview.hidden === false) route.place = scrollY;
  overview.hidden = isOne;
  article.hidden = !isOne;
  document.body.classList.toggle("reading", isOne);
  whole = null;
  if (isOne) {
    if (kind === "f") showFunction(article, number);
    else showFile(article, number);
    article.focus({ preventScroll: true });
    scrollTo(0, 0);
  } else {
    article.replaceChildren();
    const part = document.getElementById(location.hash.slice(1));
    if (part) part.scrollIntoView();
  }
}

function startKeys() {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const focus = () => document.getElementById("search").focus();
      if (document.getElementById("function").hidden) focus();
      else {
        location.hash = "functions";
        setTimeout(focus);
      }
    }
    if (event.key === "Escape" && !document.getElementById("function").hidden)
      location.hash = location.hash.startsWith("#s") ? "files" : "functions";
    const isPlain = !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (whole !== null && isPlain && "np".includes(event.key)) whole.go(event.key === "n" ? 1 : -1);
  });
}

function start() {
  const section = (name) => document.getElementById(name);
  if (isComparison) drawChanges(section("changes"));
  drawCurve();
  new Treemap(section("map"));
  new FunctionTable(section("functions"));
  if (model.coverage) new FileTable(section("files"));
  drawStart(section("start"));
  addEventListener("hashchange", route);
  startKeys();
  if (location.hash) route();
  document.documentElement.dataset.ready = "true";
}

startTheme();
// Lets the browser paint the totals first, which need no script.
requestAnimationFrame(() => setTimeout(start));
