// Draws the table of files: what was executed of each, least covered first, with sorting, search, and a filter.
"use strict";

/** What is counted of a file, in the order of the JSON: each has the number of all and of those executed. */
const KINDS = ["Lines", "Branches", "Functions", "Conditions", "Prime paths"];

class FileTable {
  constructor(section) {
    const { files, missing } = model.coverage;
    this.files = files.map(([path, counts], number) => ({ number, path, counts, text: path.toLowerCase() }));
    this.kinds = KINDS.map((title, kind) => ({ title, kind })).filter(
      ({ kind }) => kind < 3 || this.files.some(({ counts }) => counts[kind][0] > 0),
    );
    const missed = { title: "Lines missed", key: ({ counts }) => counts[0][0] - counts[0][1] };
    this.columns = [
      ...this.kinds.map(({ title, kind }) => ({
        title,
        up: true,
        key: ({ counts }) => part(counts[kind]),
        cell: ({ counts }) => executed(counts[kind]),
      })),
      { ...missed, cell: (file) => grouped(missed.key(file)) },
    ];
    this.search = element("input", {
      type: "search",
      id: "file-search",
      placeholder: "Path",
      autocomplete: "off",
      spellcheck: "false",
      input: () => this.update(),
    });
    this.only = element("input", { type: "checkbox", id: "file-missed", change: () => this.update() });
    this.told = element("p.told", { role: "status" });
    this.head = element(
      "tr",
      {},
      this.title("File", null),
      this.columns.map((column) => this.title(column.title, column)),
    );
    this.rows = element("tbody", {});
    this.below = element("div.below", {});
    section.append(
      element("p", {}, this.sums()),
      element(
        "div.search",
        {},
        element("label", { for: "file-search" }, "Search"),
        this.search,
        element("label", {}, this.only, " only files with lines that were not executed"),
        this.told,
      ),
      element(
        "div.scroll",
        { tabindex: "0", role: "region", "aria-label": "Table of files" },
        element("table", {}, element("thead", {}, this.head), this.rows),
      ),
      this.below,
    );
    if (missing.length > 0) {
      const names = missing.map((path) => element("li", {}, element("bdi", {}, path)));
      const all = `${grouped(missing.length)} file${missing.length === 1 ? " is" : "s are"} missing`;
      section.append(element("details.missing", {}, element("summary", {}, all), element("ul", {}, names)));
    }
    this.sort(this.columns[0], true);
  }

  /** How much of all files was executed. */
  sums() {
    const sum = (kind) =>
      this.files.reduce(([all, hit], { counts }) => [all + counts[kind][0], hit + counts[kind][1]], [0, 0]);
    const parts = this.kinds.map(({ title, kind }) => [title.toLowerCase(), sum(kind)]);
    const texts = parts.map(
      ([title, [all, hit]]) => `${grouped(hit)} of ${grouped(all)} ${title} (${percent(part([all, hit]))})`,
    );
    return `Executed: ${texts.join(", ")}.`;
  }

  title(text, column) {
    return columnTitle(this, column === null ? "th.function" : "th.number", text, column);
  }

  sort(column, up) {
    markSorted(this, column, up);
    const sign = up ? 1 : -1;
    const key = column === null ? (file) => file.text : column.key;
    const missed = ({ counts }) => counts[0][0] - counts[0][1];
    this.order = this.files
      .map((file) => [key(file), file])
      .sort(([a, one], [b, other]) => (a === b ? missed(other) - missed(one) : a < b ? -sign : sign))
      .map(([, file]) => file);
    this.update();
  }

  update() {
    const words = this.search.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const isShown = ({ text, counts }) =>
      words.every((word) => text.includes(word)) && !(this.only.checked && counts[0][0] === counts[0][1]);
    this.found = this.order.filter(isShown);
    const all = `${grouped(this.files.length)} file${this.files.length === 1 ? "" : "s"}`;
    const isPart = this.found.length < this.files.length;
    this.told.textContent = isPart ? `${grouped(this.found.length)} of ${all}` : all;
    this.rows.replaceChildren();
    this.below.replaceChildren(more(this.found.length, ROWS, (from, to) => this.add(from, to)));
  }

  add(from, to) {
    const rows = this.found.slice(from, to).map((file) =>
      element(
        "tr",
        {},
        element(
          "th.function",
          { scope: "row" },
          element("a", { href: `#s${file.number}` }, element("bdi.name", {}, file.path)),
        ),
        this.columns.map((column) => element("td.number", {}, column.cell(file))),
      ),
    );
    this.rows.append(...rows);
    return rows[0]?.querySelector("a");
  }
}

/** The executed part of something. All of nothing is all. */
function part([all, hit]) {
  return all > 0 ? hit / all : 1;
}

function executed([all, hit]) {
  return all > 0 ? `${percent(hit / all)} of ${grouped(all)}` : "–";
}
