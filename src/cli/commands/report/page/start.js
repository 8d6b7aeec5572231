// Draws the order in which functions were executed first, as a strip and as a list.
"use strict";

/** Most bars of the strip. If there are more functions, several share a bar. */
const MOST_BARS = 240;

function drawStart(section) {
  const { first, totals } = sides[last];
  const started = [...first.keys()].filter((number) => first[number] > 0).sort((a, b) => first[a] - first[b]);
  if (started.length === 0) {
    section.append(element("p.hint", {}, "The profile does not have the order of first executions."));
    document.querySelector('[data-part="start"]')?.remove();
    return;
  }
  const largest = Math.log(started.reduce((most, number) => Math.max(most, value(totals[number])), 2));
  const height = (number) => Math.log(Math.max(value(totals[number]), 1)) / largest;
  section.append(
    element(
      "p.hint",
      {},
      "From left to right, functions in the order of their first execution; the height is the count, in powers of ten.",
    ),
    strip(started, height),
    list(started),
  );
}

function strip(started, height) {
  const each = Math.ceil(started.length / MOST_BARS);
  const bars = Math.ceil(started.length / each);
  const [width, tall] = [960, 96];
  const picture = drawn("svg", {
    viewBox: `0 0 ${width} ${tall}`,
    role: "img",
    class: "strip",
    preserveAspectRatio: "none",
  });
  picture.append(drawn("title", {}, `${started.length} functions in the order of their first execution`));
  for (let at = 0; at < bars; at++) {
    const some = started.slice(at * each, (at + 1) * each);
    const top = some.reduce((best, number) => (height(number) > height(best) ? number : best));
    const size = Math.max(height(top) * (tall - 4), 2);
    const names = some.slice(0, 5).map(name).join(", ") + (some.length > 5 ? ", …" : "");
    const bar = drawn("rect", {
      x: (at * width) / bars,
      width: (width / bars) * 0.82,
      y: tall - size,
      height: size,
    });
    bar.style.setProperty("--up", `${Math.round(height(top) ** 2 * 100)}%`);
    bar.append(drawn("title", {}, `${at * each + 1}: ${names}`));
    bar.addEventListener("click", () => (location.hash = `f${top}`));
    picture.append(bar);
  }
  return picture;
}

function list(started) {
  const items = element("ol.started", {});
  const add = (from, to) => {
    const made = started
      .slice(from, to)
      .map((number) => element("li", {}, link(number), element("span", {}, percent(share(number) ?? 0))));
    items.append(...made);
    return made[0]?.querySelector("a");
  };
  return element("div", {}, items, more(started.length, 30, add));
}
