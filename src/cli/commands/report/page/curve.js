// Draws the curve of cutoffs: the share of all counts that the largest counts make up.
"use strict";

function drawCurve() {
  const plot = document.querySelector("#curve .plot");
  const longest = Math.max(...sides.map((side) => side.curve.places));
  if (!sides.some((side) => side.curve.points.length > 0)) return;
  const [width, height, left, bottom, top, right] = [720, 260, 48, 34, 24, 16];
  const x = (number) =>
    left + (Math.log10(Math.max(number, 1)) / Math.max(Math.log10(longest), 0.1)) * (width - left - right);
  const y = (part) => height - bottom - part * (height - bottom - top);
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const what = model.by_function ? "counters" : "places";
  picture.append(drawn("title", {}, `Share of all counts by number of ${what}, the largest counts first`));
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    picture.append(
      drawn("line", { class: "grid", x1: left, x2: width - right, y1: y(part), y2: y(part) }),
      drawn("text", { class: "axis end", x: left - 8, y: y(part) + 4 }, `${part * 100} %`),
    );
  }
  for (let power = 0; 10 ** power <= longest; power++) {
    const at = x(10 ** power);
    picture.append(
      drawn("line", { class: "tick", x1: at, x2: at, y1: y(0), y2: y(0) + 4 }),
      drawn("text", { class: "axis middle", x: at, y: y(0) + 18 }, grouped(10 ** power)),
    );
  }
  picture.append(
    drawn("text", { class: "axis end", x: width - right, y: y(0) - 7 }, `${what}, hottest first`),
  );
  sides.forEach((side, number) => drawSide(picture, side, number, x, y));
  plot.append(picture);
}

function drawSide(picture, { curve, label }, number, x, y) {
  const before = isComparison && number === 0 ? " before" : "";
  if (curve.points.length === 0) return;
  const line = curve.points.map(([places, part]) => `${x(places).toFixed(1)},${y(part).toFixed(1)}`);
  const first = curve.points[0];
  const start = `${x(1)},${y(0)} ${x(first[0])},${y(first[1])}`;
  if (!before) {
    const end = x(curve.points.at(-1)[0]);
    picture.append(drawn("polygon", { class: "area", points: `${start} ${line.join(" ")} ${end},${y(0)}` }));
  }
  picture.append(drawn("polyline", { class: `line${before}`, points: line.join(" ") }));
  for (const [part, places] of curve.marks) {
    const at = [x(places), y(part)];
    picture.append(
      drawn("line", { class: `mark${before}`, x1: at[0], x2: at[0], y1: at[1], y2: y(0) }),
      drawn("circle", { class: `dot${before}`, cx: at[0], cy: at[1], r: 4 }),
    );
    // Two marks at one place share a label.
    const isLast = !curve.marks.some(([other, at]) => other > part && at === places);
    if (!before && isLast) {
      const text = `${part * 100} %: ${grouped(places)}`;
      picture.append(drawn("text", { class: "value end", x: at[0] - 8, y: at[1] - 8 }, text));
    }
  }
  if (isComparison) {
    const [places, part] = curve.points[Math.floor(curve.points.length * (before ? 0.3 : 0.45))];
    picture.append(drawn("text", { class: `value${before}`, x: x(places) + 8, y: y(part) + 12 }, label));
  }
}
