// Columns by which the tables of functions and of files are sorted.

/** The title of a column: a button that sorts the table by it, and the other way round at the second click. */
function columnTitle(table, kind, text, column) {
  const button = element(
    "button",
    {
      type: "button",
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
