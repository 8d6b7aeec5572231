// Draws the changes between two profiles.
"use strict";

const MOST_CHANGES = 20;

function drawChanges(section) {
  const { overlap, function_overlap, became_hot, became_cold, calls } = model.changes;
  section.append(
    element(
      "p.overlap",
      {},
      element("strong", {}, percent(overlap)),
      " of the counts overlap, ",
      element("strong", {}, percent(function_overlap)),
      " of the functions' totals.",
    ),
    element(
      "p.hint",
      {},
      "The comparison uses the share of each count in all counts of its side. A function is hot if it is among those that make up 99 % of all counts.",
    ),
    element("div.two", {}, functions("Became hot", became_hot), functions("Became cold", became_cold)),
    targets(calls),
  );
}

function functions(title, numbers) {
  if (numbers.length === 0)
    return element("div", {}, element("h3", {}, title), element("p.hint", {}, "No function."));
  const rows = element("tbody", {});
  const add = (from, to) => {
    const made = numbers.slice(from, to).map((number) =>
      element(
        "tr",
        {},
        element(
          "th.function",
          { scope: "row" },
          link(number),
          element("span.file", {}, element("bdi", {}, file(number))),
        ),
        [0, 1].map((side) => element("td.number", {}, bar(share(number, side)))),
      ),
    );
    rows.append(...made);
    return made[0]?.querySelector("a");
  };
  const button = more(numbers.length, MOST_CHANGES, add);
  const titles = element(
    "tr",
    {},
    element("th.function", { scope: "col" }, "Function"),
    ["Before", "Now"].map((text) => element("th.number", { scope: "col" }, text)),
  );
  return element(
    "div",
    {},
    element("h3", {}, `${title}: ${numbers.length}`),
    element("table", {}, element("thead", {}, titles), rows),
    button,
  );
}

function targets(calls) {
  if (calls.length === 0) return "";
  const rows = element("tbody", {});
  const add = (from, to) => {
    const made = calls
      .slice(from, to)
      .map(({ function: of, line, before, after }) =>
        element(
          "tr",
          {},
          element(
            "th.function",
            { scope: "row" },
            element("bdi.name", {}, of),
            element("span.file", {}, `line ${line} from the declaration`),
          ),
          element("td.wide", {}, element("bdi.name", {}, before)),
          element("td.wide", {}, element("bdi.name", {}, after)),
        ),
      );
    rows.append(...made);
    return null;
  };
  const button = more(calls.length, MOST_CHANGES, add);
  const titles = element(
    "tr",
    {},
    ["Call", "Most frequent target before", "Now"].map((text) =>
      element(text === "Call" ? "th.function" : "th.wide", { scope: "col" }, text),
    ),
  );
  return element(
    "div",
    {},
    element("h3", {}, `Calls with another first target: ${calls.length}`),
    element("table", {}, element("thead", {}, titles), rows),
    button,
  );
}
