// Columns by which the tables of functions and of files are sorted, and what the field's words mean.

/** What a column or a tile says when the pointer rests on it. The book has these words, too. */
const WORDS = {
  share: "The part of all counts that the function has, with the bodies inlined into it.",
  total: "The sum of the function's counts, with the bodies inlined into it.",
  head: "How often the function was entered by a call of it. Inlined copies have no head count of their own.",
  first: "When the function was executed for the first time, as its rank among all functions.",
  targets: "The functions that indirect calls called. The first one is shown, with its share of these calls.",
  overlap: "The share of counts that is at the same places before and now.",
};

/** The title of a column: a button that sorts the table by it, and the other way round at the second click. */
function columnTitle(table, kind, text, column) {
  const button = element(
    "button",
    {
      type: "button",
      title: column?.what,
      click: () => table.sort(column, table.by === column ? !table.up : (column?.up ?? column === null)),
    },
    text,
  );
  const title = element(kind, { scope: "col" }, button);
  title.column = column;
  return title;
}

/** Remembers, and says to screen readers, by which column a table is sorted. */
function markSorted(table, column, up) {
  [table.by, table.up] = [column, up];
  for (const title of table.head.children) {
    if (title.column === column) title.setAttribute("aria-sort", up ? "ascending" : "descending");
    else title.removeAttribute("aria-sort");
  }
}
