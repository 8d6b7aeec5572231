// Draws the table of functions, with sorting by any column and search by name and file.
"use strict";

const ROWS = 50;

/** For each function with indirect calls: the number of sites, the number of calls, and the most frequent targets. */
const callsOf = new Map(sides[last].calls.map(([number, ...rest]) => [number, rest]));

/** The largest share of any function, which fills its cell. */
const largestShare = sides.reduce(
  (largest, side, number) =>
    side.totals.reduce((most, _, of) => Math.max(most, share(of, number) ?? 0), largest),
  1e-9,
);

const bar = (part) =>
  element(
    "span.bar-cell",
    { "--part": `${((part ?? 0) / largestShare) * 100}%` },
    part === null ? "–" : percent(part),
  );

/** Columns: a title, a value to sort by, a cell; a column with `up` starts with the smallest value. */
const columns = (
  isComparison
    ? [
        { title: "Before", key: (number) => share(number, 0) ?? -1, cell: (number) => bar(share(number, 0)) },
        { title: "Now", key: (number) => share(number) ?? -1, cell: (number) => bar(share(number)) },
        { title: "Change", key: (number) => Math.abs(change(number)), cell: (number) => changed(number) },
        {
          title: "Overlap",
          what: WORDS.overlap,
          up: true,
          key: (number) => model.changes.overlaps[number],
          cell: (number) => percent(model.changes.overlaps[number]),
        },
        {
          title: "Total now",
          what: WORDS.total,
          key: (number) => value(sides[last].totals[number]),
          cell: (number) => count(sides[last].totals[number]),
        },
        {
          title: "Head count now",
          what: WORDS.head,
          key: (number) => value(sides[last].heads[number]),
          cell: (number) => grouped(sides[last].heads[number]),
        },
      ]
    : [
        { title: "Share", what: WORDS.share, key: (number) => share(number), cell: (number) => bar(share(number)) },
        {
          title: "Total",
          what: WORDS.total,
          key: (number) => value(sides[0].totals[number]),
          cell: (number) => grouped(sides[0].totals[number]),
        },
        {
          title: "Head count",
          what: WORDS.head,
          key: (number) => value(sides[0].heads[number]),
          cell: (number) => grouped(sides[0].heads[number]),
        },
        sides[0].first.some((first) => first > 0) && {
          title: "First",
          what: WORDS.first,
          up: true,
          key: (number) => sides[0].first[number] || Infinity,
          cell: (number) => (sides[0].first[number] ? grouped(sides[0].first[number]) : "–"),
        },
        callsOf.size > 0 && {
          title: "Call targets",
          what: WORDS.targets,
          key: (number) => value(callsOf.get(number)?.[1] ?? -1),
          cell: targetCell,
          wide: true,
        },
      ]
).filter((column) => column);

function change(number) {
  return (share(number) ?? 0) - (share(number, 0) ?? 0);
}

function changed(number) {
  const by = change(number);
  const text = `${by > 0 ? "+" : by < 0 ? "−" : ""}${(Math.abs(by) * 100).toFixed(2)}`;
  return element(by > 0.0005 ? "span.up" : by < -0.0005 ? "span.down" : "span", {}, text);
}

function count(of) {
  return of === null ? "–" : grouped(of);
}

function targetCell(number) {
  const calls = callsOf.get(number);
  if (!calls) return "";
  const [sites, all, targets] = calls;
  const rest = sites > 1 ? `, ${sites} calls` : "";
  if (targets.length === 0) return `${sites} calls`;
  const [symbol, most] = targets[0];
  return element("span.target", {}, link(symbol), ` ${percent(value(most) / value(all))}${rest}`);
}

class FunctionTable {
  constructor(section) {
    this.found = Uint32Array.from({ length: model.functions }, (_, number) => number);
    this.texts = null;
    this.search = element("input", {
      type: "search",
      id: "search",
      placeholder: "Name or file",
      autocomplete: "off",
      spellcheck: "false",
      input: () => this.update(),
    });
    this.told = element("p.told", { role: "status" });
    this.head = element(
      "tr",
      {},
      this.title("Function", null),
      columns.map((column) => this.title(column.title, column)),
    );
    this.rows = element("tbody", {});
    this.below = element("div.below", {});
    section.append(
      element(
        "div.search",
        {},
        element("label", { for: "search" }, "Search"),
        this.search,
        element("kbd", { "aria-hidden": "true" }, "/"),
        this.told,
      ),
      element(
        "div.scroll",
        { tabindex: "0", role: "region", "aria-label": "Table of functions" },
        element("table", {}, element("thead", {}, this.head), this.rows),
      ),
      this.below,
    );
    this.sort(isComparison ? columns[2] : columns[0], false);
    // Prepares the search before somebody types.
    setTimeout(() => this.fold());
  }

  title(text, column) {
    const kind = column === null ? "th.function" : column.wide ? "th.wide" : "th.number";
    return columnTitle(this, kind, text, column);
  }

  sort(column, up) {
    markSorted(this, column, up);
    this.order = Uint32Array.from({ length: model.functions }, (_, number) => number);
    const sign = up ? 1 : -1;
    if (column === null) {
      const keys = model.names.slice(0, model.functions).map((name) => name.toLowerCase());
      this.order.sort((a, b) => (keys[a] === keys[b] ? a - b : keys[a] < keys[b] ? -sign : sign));
    } else {
      const keys = Float64Array.from(this.order, column.key);
      this.order.sort((a, b) => (keys[a] === keys[b] ? a - b : keys[a] < keys[b] ? -sign : sign));
    }
    this.update();
  }

  /** Makes the texts that are searched. */
  fold() {
    this.texts ??= model.names
      .slice(0, model.functions)
      .map((name, number) => `${name}\n${file(number)}`.toLowerCase());
  }

  update() {
    const words = this.search.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (words.length > 0) this.fold();
    this.found = this.order.filter((number) => words.every((word) => this.texts[number].includes(word)));
    const all = `${grouped(model.functions)} function${model.functions === 1 ? "" : "s"}`;
    this.told.textContent = words.length > 0 ? `${grouped(this.found.length)} of ${all}` : all;
    this.rows.replaceChildren();
    this.below.replaceChildren(more(this.found.length, ROWS, (from, to) => this.add(from, to)));
  }

  add(from, to) {
    const rows = [...this.found.subarray(from, to)].map((number) => this.row(number));
    this.rows.append(...rows);
    return rows[0]?.querySelector("a");
  }

  row(number) {
    const path = file(number);
    const [, line] = model.declared[number];
    const place = path
      ? element("span.file", {}, element("bdi", {}, line > 0 ? `${path}:${line}` : path))
      : null;
    const never = value(sides[last].totals[number]) === 0 ? ".never" : "";
    return element(
      `tr${never}`,
      {},
      element("th.function", { scope: "row" }, link(number), place),
      columns.map((column) => element(column.wide ? "td.wide" : "td.number", {}, column.cell(number))),
    );
  }
}
