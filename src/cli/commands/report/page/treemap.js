// The map: folders, files and functions by their counts. A click or Enter goes in, Escape goes out.
"use strict";

/** Smallest area of a box. Smaller parts of the map share one box. */
const LEAST_AREA = 120;
const MOST_BOXES = 400;

class Treemap {
  constructor(section) {
    this.root = tree();
    if (this.root.children.length === 0) {
      section.append(element("p.hint", {}, "Nothing was executed."));
      return;
    }
    this.box = element("div.treemap", { role: "group", "aria-label": "Map" });
    this.path = element("ol.crumbs", {});
    this.told = element("p.told", { "aria-live": "polite" });
    const text = isComparison
      ? "Area: share of all counts, now or before, whichever is larger. Colour: whether the share grew or shrank."
      : "Area: counts. Colour: executions per line, from few to many.";
    section.append(
      element("p.hint", {}, `${text} Choose a file to look into it, a function to see its lines.`),
      element("nav", { "aria-label": "Place in the map" }, this.path),
      this.box,
      legend(),
      this.told,
    );
    this.hottest = leaves(this.root).reduce(
      (most, leaf) => Math.max(most, leaf.total / Math.max(leaf.places, 1)),
      2,
    );
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.show(this.root, false);
    let width = this.box.clientWidth;
    new ResizeObserver(() => {
      if (this.box.clientWidth === 0 || Math.abs(this.box.clientWidth - width) < 40) return;
      width = this.box.clientWidth;
      this.show(this.node, false);
    }).observe(this.box);
  }

  show(node, focus = true) {
    this.node = node;
    const way = [];
    for (let at = node; at; at = at.parent) way.unshift(at);
    this.path.replaceChildren(
      ...way.map((at) =>
        element(
          "li",
          {},
          at === node
            ? element("span", { "aria-current": "true" }, element("bdi", {}, at.name))
            : element("button", { type: "button", click: () => this.show(at) }, element("bdi", {}, at.name)),
        ),
      ),
    );
    const width = this.box.clientWidth || 1000;
    const height = this.box.clientHeight || 470;
    this.left = MOST_BOXES;
    this.box.replaceChildren(...this.boxes(node, { x: 0, y: 0, width, height }, { width, height }));
    const first = this.box.querySelector(".cell:not(.rest)");
    if (first) first.tabIndex = 0;
    if (focus) {
      this.told.textContent = `${node.name}: ${node.children.length} parts, ${percent(node.part)} of all counts`;
      if (first) first.focus();
    }
  }

  /** The boxes of a part's children, and of their children where there is room. */
  boxes(node, area, whole) {
    const made = [];
    const large = this.large(node, area);
    for (const [child, at] of layout(large, area)) {
      this.left--;
      const roomy = child.children && at.width > 60 && at.height > 44;
      made.push(this.cell(child, at, whole, roomy));
      if (roomy) {
        const inner = { x: at.x + 3, y: at.y + 20, width: at.width - 6, height: at.height - 23 };
        made.push(...this.boxes(child, inner, whole));
      }
    }
    return made;
  }

  /** The children with room for a box of their own, and one box for the others. */
  large(node, area) {
    const least = (LEAST_AREA / (area.width * area.height)) * node.part;
    const room = Math.max(this.left, 1);
    const large = node.children.filter((child, place) => child.part >= least && place < room);
    const small = node.children.slice(large.length);
    if (small.length === 0) return large;
    const sum = (key) => small.reduce((all, child) => all + child[key], 0);
    const rest = { name: `${grouped(small.length)} more`, isRest: true };
    for (const key of ["part", "before", "now", "total", "places"]) rest[key] = sum(key);
    return [...large, rest];
  }

  cell(node, at, whole, isOpen) {
    const style = {
      "--x": `${(at.x / whole.width) * 100}%`,
      "--y": `${(at.y / whole.height) * 100}%`,
      "--w": `${(at.width / whole.width) * 100}%`,
      "--h": `${(at.height / whole.height) * 100}%`,
    };
    const tell = `${node.name}: ${percent(node.part)} of all counts`;
    const roomy = at.width > 34 && at.height > 15;
    const label = roomy ? element("bdi", {}, node.name) : null;
    const value = roomy && at.height > 34 && !isOpen ? element("span", {}, percent(node.part)) : null;
    const attributes = { ...style, title: tell, "aria-label": tell, tabindex: "-1" };
    if (node.children) {
      const kind = isOpen ? "button.cell.open" : "button.cell";
      Object.assign(attributes, isOpen ? {} : this.colour(node));
      return element(kind, { ...attributes, type: "button", click: () => this.show(node) }, label, value);
    }
    if (node.isRest) return element("span.cell.rest", { ...style, title: tell }, label, value);
    Object.assign(attributes, this.colour(node), { href: `#f${node.number}` });
    return element("a.cell", attributes, label, value);
  }

  colour(node) {
    if (isComparison) {
      const by = moved(node.before, node.now);
      return {
        "--up": `${Math.round(Math.max(by, 0) * 100)}%`,
        "--down": `${Math.round(Math.max(-by, 0) * 100)}%`,
      };
    }
    const each = node.total / Math.max(node.places, 1);
    const heat = Math.log(Math.max(each, 1)) / Math.log(this.hottest);
    return { "--up": `${Math.round(heat ** 1.6 * 100)}%`, "--down": "0%" };
  }

  key(event) {
    if (event.key === "Escape" && this.node.parent) {
      event.preventDefault();
      this.show(this.node.parent);
      return;
    }
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (!way || !event.target.classList.contains("cell")) return;
    event.preventDefault();
    const next = nearest(event.target, [...this.box.children], way);
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

/** The nearest cell in a direction from another one. */
function nearest(from, cells, [dx, dy]) {
  const middle = (cell) => {
    const { x, y, width, height } = cell.getBoundingClientRect();
    return [x + width / 2, y + Math.min(height / 2, 10)];
  };
  const [x, y] = middle(from);
  let [best, least] = [null, Infinity];
  for (const cell of cells) {
    const [otherX, otherY] = middle(cell);
    const along = (otherX - x) * dx + (otherY - y) * dy;
    const across = Math.abs((otherX - x) * dy) + Math.abs((otherY - y) * dx);
    const distance = along + 2 * across;
    if (cell !== from && !cell.classList.contains("rest") && along > 1 && distance < least)
      [best, least] = [cell, distance];
  }
  return best;
}

/** Folders, files and functions, each with its counts; the largest first. */
function tree() {
  const root = { name: "All", children: new Map() };
  for (let number = 0; number < model.functions; number++) {
    const [before, now] = [isComparison ? (share(number, 0) ?? 0) : 0, share(number) ?? 0];
    const part = Math.max(before, now);
    if (part === 0) continue;
    const path = file(number) || (model.by_function ? "no file named" : "file not known");
    let at = root;
    for (const step of path.split("/").filter((step) => step !== "")) {
      if (!at.children.has(step)) at.children.set(step, { name: step, children: new Map() });
      at = at.children.get(step);
    }
    const total = value(sides[last].totals[number]);
    const places = sides[last].places[number];
    at.children.set(number, { name: tail(number), number, part, before, now, total, places });
  }
  finish(root, null);
  return root;
}

function finish(node, parent) {
  if (!node.children) {
    node.parent = parent;
    return;
  }
  node.children = [...node.children.values()];
  // A folder with one entry joins with the entry.
  while (node.children.length === 1 && node.children[0].children && parent) {
    node.name += `/${node.children[0].name}`;
    node.children = [...node.children[0].children.values()];
  }
  node.parent = parent;
  for (const key of ["part", "before", "now", "total", "places"]) node[key] = 0;
  for (const child of node.children) {
    finish(child, node);
    for (const key of ["part", "before", "now", "total", "places"]) node[key] += child[key];
  }
  node.children.sort((a, b) => b.part - a.part);
}

/** The last parts of a function's name, which differ from those of its neighbours. */
function tail(number) {
  const plain = shortName(number);
  if (!plain.includes("::") || plain.includes("<")) return plain;
  return plain.replace(/\(.*$/, "").split("::").slice(-2).join("::");
}

function leaves(node) {
  return node.children ? node.children.flatMap(leaves) : [node];
}

/** Places children in an area, in boxes that are nearly square. */
function* layout(children, area) {
  const all = children.reduce((sum, child) => sum + child.part, 0);
  const scale = (area.width * area.height) / (all || 1);
  let { x, y, width, height } = area;
  let at = 0;
  while (at < children.length && width > 0 && height > 0) {
    const side = Math.min(width, height);
    let [sum, end, worst] = [0, at, Infinity];
    while (end < children.length) {
      const size = children[end].part * scale;
      const next = sum + size;
      const ratio = Math.max(
        (side * side * children[at].part * scale) / (next * next),
        (next * next) / (side * side * Math.max(size, 1e-9)),
      );
      if (ratio > worst) break;
      [sum, worst] = [next, ratio];
      end++;
    }
    const thickness = sum / side;
    let along = 0;
    for (const child of children.slice(at, end)) {
      const length = (child.part * scale) / thickness;
      yield width < height
        ? [child, { x: x + along, y, width: length, height: thickness }]
        : [child, { x, y: y + along, width: thickness, height: length }];
      along += length;
    }
    if (width < height) [y, height] = [y + thickness, height - thickness];
    else [x, width] = [x + thickness, width - thickness];
    at = end;
  }
}

function legend() {
  const [from, to] = isComparison ? ["a quarter or less", "four times or more"] : ["few", "many"];
  return element(
    isComparison ? "p.legend.changed" : "p.legend",
    { "aria-hidden": "true" },
    element("span", {}, from),
    element("i", {}),
    element("span", {}, to),
  );
}
