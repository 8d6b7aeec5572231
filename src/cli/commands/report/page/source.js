// Draws a function: its numbers, and its lines with their counts, beside the source if the page has it.
"use strict";

/** Least number of successive lines without counts to fold. */
const LONG_GAP = 14;

/** For each file, the parts of its text with their first lines, and the last lines of functions. */
const texts = new Map(
  model.sources.map((source) => [
    source.file,
    {
      ...source,
      ends: new Map(source.ends),
      parts: source.parts.map(([first, text]) => [first, text.split("\n")]),
    },
  ]),
);

function lineText(number, line) {
  const parts = texts.get(number)?.parts ?? [];
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (parts[middle][0] <= line) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return undefined;
  const [first, lines] = parts[low - 1];
  return lines[line - first];
}

/** The records of one body per side, joined by line. */
function gather(bodies) {
  const lines = new Map();
  bodies.forEach((records, side) => {
    for (const [line, part, count, calls, error, inlined] of records ?? []) {
      if (!lines.has(line))
        lines.set(line, { counts: [], parts: [], calls: [], error: 0, inlined: new Map() });
      const at = lines.get(line);
      if (count !== null) {
        const before = at.counts[side];
        if (before === undefined || value(count) > value(before)) at.counts[side] = count;
        at.parts.push([side, part, count]);
      }
      if (calls?.length > 0) at.calls.push([side, calls]);
      at.error = Math.max(at.error, error ?? 0);
      for (const [symbol, inner] of inlined ?? []) {
        if (!at.inlined.has(symbol)) at.inlined.set(symbol, []);
        const into = at.inlined.get(symbol);
        into[side] = (into[side] ?? []).concat(inner);
      }
    }
  });
  return lines;
}

/** The sum of all counts of a body. */
function sum(records) {
  let all = 0;
  for (const [, , count, , , inlined] of records ?? []) {
    all += value(count);
    for (const [, inner] of inlined ?? []) all += sum(inner);
  }
  return all;
}

function largest(records) {
  let most = 1;
  for (const [, , count, , , inlined] of records ?? []) {
    most = Math.max(most, value(count));
    for (const [, inner] of inlined ?? []) most = Math.max(most, largest(inner));
  }
  return most;
}

/** Lines without counts, folded if there are many. */
function folded(rows) {
  if (rows.length < LONG_GAP) return rows;
  const [first, end] = [rows.slice(0, 2), rows.slice(-2)];
  const between = rows.slice(2, -2);
  const button = element("button.gap", { type: "button" }, `${between.length} lines without counts`);
  button.addEventListener("click", () => button.replaceWith(...between));
  return [...first, button, ...end];
}

/** The lines of one function and of the bodies inlined in it. */
class Listing {
  constructor(number) {
    this.number = number;
    this.bodies = sides.map((_, side) => body(number, side));
    this.most = Math.max(...this.bodies.map(largest));
    this.totals = sides.map((side) => value(side.total) || 1);
    this.all = this.bodies.map(sum);
  }

  draw() {
    const box = element(isComparison ? "div.code.compared" : "div.code", {
      role: "group",
      "aria-label": "Lines",
    });
    if (isComparison) {
      box.append(
        element(
          "div.line.titles",
          {},
          element("span.no", {}, ""),
          sides.map((side) => element("span.count", {}, element("bdi", {}, side.label))),
          element("code", {}, ""),
        ),
      );
    }
    box.append(...this.rows(this.number, this.bodies));
    return box;
  }

  /** The rows of a body. If the page has the source, they include lines without counts. */
  rows(symbol, bodies) {
    const lines = gather(bodies);
    const [at, declared] = model.declared[symbol] ?? [-1, 0];
    const numbers = new Set(lines.keys());
    const has = declared > 0 && lineText(at, declared) !== undefined;
    if (has) {
      const end = (texts.get(at).ends.get(declared) ?? declared) - declared;
      for (let line = 0; line <= end; line++) numbers.add(line);
    }
    const made = [];
    let plain = [];
    for (const line of [...numbers].sort((a, b) => a - b)) {
      const text = has ? lineText(at, declared + line) : undefined;
      const rows = this.line(line, lines.get(line), declared, text, has && text === undefined);
      if (lines.has(line)) {
        made.push(...folded(plain), ...rows);
        plain = [];
      } else plain.push(...rows);
    }
    return [...made, ...plain];
  }

  line(line, record, declared, text, isElsewhere) {
    if (model.by_function) return this.counters(line, record);
    const label = declared > 0 ? String(declared + line) : `${line < 0 ? "−" : "+"}${Math.abs(line)}`;
    const counts = record?.counts ?? [];
    const isNever = counts.length > 0 && counts.every((count) => value(count) === 0);
    const kind = isNever ? "div.line.never" : "div.line";
    const tip = this.tip(record);
    const row = element(
      kind,
      {},
      element("span.no", {}, label),
      sides.map((_, side) => this.count(counts, side, tip)),
      text !== undefined
        ? element("code", {}, text)
        : element("code.elsewhere", {}, isElsewhere ? "outside of the function's text" : ""),
    );
    return [row, ...this.below(record)];
  }

  /** LLVM's counters: each hash has a body with a line for each counter and each site of calls. */
  counters(line, record) {
    const made = [];
    for (const [hash, bodies] of record?.inlined ?? []) {
      made.push(element("p.hash", {}, `Control flow ${name(hash)}`));
      for (const [number, own] of [...gather(bodies)].sort(([a], [b]) => a - b)) {
        if (own.counts.length > 0) {
          const isNever = own.counts.every((count) => value(count) === 0);
          const what = number === 0 ? "counter 0, often the entry" : `counter ${number}`;
          made.push(
            element(
              isNever ? "div.line.never" : "div.line",
              {},
              element("span.no", {}, String(number)),
              sides.map((_, side) => this.count(own.counts, side, "")),
              element("code", {}, what),
            ),
          );
        }
        for (const [side, calls] of own.calls)
          made.push(this.targets(calls, side, 0, `indirect call ${number}`));
      }
    }
    return made;
  }

  count(counts, side, tip) {
    const count = counts[side];
    if (count === undefined) return element("span.count.none", {});
    const text = grouped(count);
    if (isComparison) {
      const parts = sides.map((_, of) => value(counts[of]) / this.totals[of]);
      const by = side === last ? moved(parts[0], parts[1]) : 0;
      const style = {
        "--up": `${Math.round(Math.max(by, 0) * 100)}%`,
        "--down": `${Math.round(Math.max(-by, 0) * 100)}%`,
      };
      return element("span.count", { ...style, title: `${percent(parts[side])} of all counts` }, text);
    }
    const heat = 0.9 * Math.sqrt(value(count) / this.most);
    return element(
      tip ? "span.count.parts" : "span.count",
      { "--up": `${Math.round(heat * 100)}%`, title: tip || (isEstimate(count) ? "an estimate" : null) },
      text,
    );
  }

  /** The counts of a line's discriminators, if it has several. */
  tip(record) {
    if (!record || isComparison || record.parts.length < 2) return "";
    return record.parts
      .map(([, part, count]) => `discriminator ${part}: ${grouped(count)}`)
      .join(", ");
  }

  /** The elements below a line: targets of its calls, and bodies inlined there. */
  below(record) {
    if (!record) return [];
    const calls = record.calls.map(([side, calls]) => this.targets(calls, side, record.error, ""));
    const inlined = [...record.inlined].map(([symbol, bodies]) => this.inlined(symbol, bodies));
    return [...calls, ...inlined];
  }

  targets(calls, side, error, what) {
    const all = calls.reduce((all, [, number]) => all + value(number), 0) || 1;
    const items = calls
      .slice(0, 12)
      .map(([symbol, number]) =>
        element(
          "li",
          { "--part": `${(value(number) / all) * 100}%` },
          link(symbol),
          element("span.share", {}, percent(value(number) / all)),
          element("span.number", {}, grouped(number)),
        ),
      );
    const rest = calls.length - items.length;
    if (rest > 0) items.push(element("li", {}, `${rest} more`));
    const whose = isComparison ? ` (${sides[side].label})` : "";
    const wrong = error > 0 ? element("p", {}, `Each number may be wrong by ${grouped(error)}.`) : null;
    return element(
      "div.calls",
      {},
      element("p", {}, `${what || "calls"}${whose}`),
      element("ul", {}, items),
      wrong,
    );
  }

  inlined(symbol, bodies) {
    const totals = sides.map((_, side) => sum(bodies[side]));
    const part = this.all[last] > 0 ? totals[last] / this.all[last] : 0;
    const content = element("div.inner", {});
    const path = file(symbol);
    const summary = element(
      "summary",
      {},
      element("span.no", {}, ""),
      sides.map((_, side) => element("span.count", {}, grouped(totals[side]))),
      element(
        "span.what",
        { title: name(symbol) },
        element("bdi.name", {}, shortName(symbol)),
        element(
          "span.file",
          {},
          `inlined, ${percent(part)} of this function`,
          path ? element("bdi", {}, ` · ${path}`) : null,
        ),
      ),
    );
    const details = element("details.inlined", {}, summary, content);
    details.addEventListener("toggle", () => {
      if (details.open && content.childElementCount === 0) content.append(...this.rows(symbol, bodies));
    });
    return details;
  }
}

/** For each function, the functions that have inlined copies of it, with the counts there. */
let copies = null;

function copiesOf(number) {
  if (copies === null) {
    copies = new Map();
    for (let outer = 0; outer < model.detailed; outer++) collect(body(outer, last), outer);
  }
  return [...(copies.get(number) ?? [])].sort((a, b) => b[1] - a[1]);
}

function collect(records, outer) {
  for (const [, , , , , inlined] of records ?? []) {
    for (const [symbol, inner] of inlined ?? []) {
      if (!copies.has(symbol)) copies.set(symbol, new Map());
      const of = copies.get(symbol);
      of.set(outer, (of.get(outer) ?? 0) + sum(inner));
      collect(inner, outer);
    }
  }
}

/** Fills the part of the page that shows one function. */
function showFunction(article, number) {
  const listing = number < model.detailed ? new Listing(number) : null;
  const [at, declared] = model.declared[number];
  const path = at < 0 ? "" : model.files[at];
  const place = path
    ? element("p.what", {}, element("bdi", {}, declared > 0 ? `${path}:${declared}` : path))
    : null;
  const source = texts.get(at);
  const note = source?.note && declared > 0 ? element("p.note", {}, `The source file ${source.note}.`) : null;
  const lines = listing?.draw();
  article.replaceChildren(
    element("p", {}, element("a.back", { href: "#functions" }, "All functions")),
    element("h2", { id: "function-name" }, element("bdi.name", {}, name(number))),
    ...[place, facts(number), note, inlinedIn(number)].filter((part) => part !== null),
    lines?.querySelector("details.inlined") ? tools() : "",
    lines ?? element("p.note", {}, "The page has no room for the lines of this function."),
  );
}

function facts(number) {
  const tile = (title, text, { more, what } = {}) =>
    element(
      "div",
      { title: what },
      element("dt", {}, title),
      element("dd", {}, element("strong", {}, text), more ? element("span", {}, more) : null),
    );
  if (isComparison) {
    const tiles = sides.map((side, at) => {
      const part = share(number, at);
      return tile(
        at === last ? "Share now" : "Share before",
        part === null ? "–" : percent(part),
        {
          more:
            part === null
              ? "not in the profile"
              : `total ${grouped(side.totals[number])}, head count ${grouped(side.heads[number])}`,
          what: WORDS.share,
        },
      );
    });
    return element("dl.tiles", {}, tiles, tile("Overlap", percent(model.changes.overlaps[number]), { what: WORDS.overlap }));
  }
  const [side] = sides;
  return element(
    "dl.tiles",
    {},
    tile("Share", percent(share(number)), { what: WORDS.share }),
    tile("Total", grouped(side.totals[number]), { what: WORDS.total }),
    tile("Head count", grouped(side.heads[number]), { what: WORDS.head }),
    side.first[number] ? tile("First executed", grouped(side.first[number]), { what: WORDS.first }) : null,
  );
}

function inlinedIn(number) {
  if (model.by_function) return null;
  const outer = copiesOf(number);
  if (outer.length === 0) return null;
  const items = outer
    .slice(0, 20)
    .map(([of, counts]) => element("li", {}, link(of), " ", element("span.number", {}, grouped(counts))));
  if (outer.length > 20) items.push(element("li", {}, `${outer.length - 20} more`));
  return element(
    "details.copies",
    {},
    element(
      "summary",
      {},
      `Also inlined in ${outer.length === 1 ? "one function" : `${outer.length} functions`}`,
    ),
    element("ul", {}, items),
  );
}

/** Unfolds all, or folds all. */
function tools() {
  const button = element("button", { type: "button", "aria-pressed": "false" }, "Unfold inlined bodies");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(open));
    const code = document.querySelector("#function .code");
    // An open body may contain other bodies. The event that follows draws them.
    const all = () => {
      const closed = [...code.querySelectorAll("details.inlined")].filter((part) => part.open !== open);
      for (const part of closed) part.open = open;
      if (closed.length > 0 && open) setTimeout(all);
    };
    all();
  });
  return element("p.tools", {}, button);
}
