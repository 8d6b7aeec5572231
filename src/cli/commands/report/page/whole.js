// Draws a whole source file: the count of each line, the branches that were taken, and what the report leaves out.
"use strict";

/** The lines of a file of the table of files. */
class WholeFile {
  constructor({ text, lines, branches, excluded }) {
    this.texts = text.split("\n");
    this.counts = new Map(lines);
    this.branches = new Map(branches);
    this.excluded = new Map(excluded);
    this.most = lines.reduce((most, [, count]) => Math.max(most, value(count)), 1);
    this.at = -1;
  }

  draw() {
    this.rows = this.texts.map((text, at) => this.line(at + 1, text));
    this.missed = this.rows.filter((row) => row.classList.contains("never"));
    return element("div.code.whole", { role: "group", "aria-label": "Lines" }, this.rows);
  }

  line(line, text) {
    const count = this.counts.get(line);
    const left = this.excluded.get(line);
    const kinds = ["div.line"];
    if (count !== undefined && value(count) === 0) kinds.push("never");
    if (left === null) kinds.push("excluded");
    const heat = count === undefined ? 0 : 0.9 * Math.sqrt(value(count) / this.most);
    const cell =
      left === null
        ? element("span.count.none", { title: "The report leaves out this line" }, "excluded")
        : element(
            count === undefined ? "span.count.none" : "span.count",
            { "--up": `${Math.round(heat * 100)}%`, title: count === undefined ? null : grouped(count) },
            count === undefined ? "" : short(count),
          );
    const no = element("span.no", {}, String(line));
    return element(
      kinds.join("."),
      { tabindex: kinds.includes("never") ? "-1" : null },
      no,
      cell,
      this.ways(line, left),
      element("code", {}, text),
    );
  }

  /** How many branches of a line were taken. `left` of them the report leaves out. */
  ways(line, left) {
    const ways = this.branches.get(line) ?? [];
    const told = ways.map((count, at) => {
      const times = count === null ? "not reached" : value(count) === 0 ? "not taken" : `taken ${grouped(count)}`;
      return `branch ${at + 1}: ${times}`;
    });
    if (left > 0) told.push(`${left} excluded`);
    if (told.length === 0) return element("span.ways", {});
    const taken = ways.filter((count) => value(count) > 0).length;
    const kind = taken < ways.length ? "span.ways.missed" : "span.ways";
    return element(kind, { title: told.join("\n") }, ways.length > 0 ? `${taken}/${ways.length}` : "–");
  }

  /** Shows the next line that was not executed, or the one before. */
  go(by) {
    if (this.missed.length === 0) return;
    this.at = this.at < 0 && by < 0 ? this.missed.length - 1 : this.at + by;
    this.at = (this.at + this.missed.length) % this.missed.length;
    this.missed[this.at].focus({ preventScroll: true });
    this.missed[this.at].scrollIntoView({ block: "center" });
    this.told.textContent = `${this.at + 1} of ${grouped(this.missed.length)}`;
  }

  tools() {
    this.told = element("span.told", { role: "status" });
    const button = (title, key, by) =>
      element("button", { type: "button", click: () => this.go(by) }, title, " ", element("kbd", {}, key));
    if (this.missed.length === 0) return element("p.tools", {}, "All lines with code were executed.");
    return element(
      "p.tools",
      {},
      button("Next line that was not executed", "n", 1),
      button("Previous", "p", -1),
      this.told,
    );
  }
}

/** The file that the page shows, if it shows one. */
let whole = null;

/** Fills the part of the page that shows one file. */
function showFile(article, number) {
  const [path, counts] = model.coverage.files[number];
  const text = model.coverage.texts[number];
  whole = text === null ? null : new WholeFile(JSON.parse(text));
  const lines = whole?.draw();
  const note = whole && model.coverage.newer.includes(number);
  const tiles = KINDS.map((title, kind) => [title, counts[kind]]).filter(([, [all]]) => all > 0);
  article.replaceChildren(
    element("p", {}, element("a.back", { href: "#files" }, "All files")),
    element("h2", { id: "function-name" }, element("bdi.name", {}, path)),
    element(
      "dl.tiles",
      {},
      tiles.map(([title, [all, hit]]) =>
        element(
          "div",
          {},
          element("dt", {}, title),
          element(
            "dd",
            {},
            element("strong", {}, percent(hit / all)),
            element("span", {}, `${grouped(hit)} of ${grouped(all)}`),
          ),
        ),
      ),
    ),
    note ? element("p.note", {}, "The source file has changed since the program was made or ran: the counts may belong to other lines.") : "",
    whole ? whole.tools() : "",
    lines ?? element("p.note", {}, "The page has no room for this file, or it is missing."),
  );
}
