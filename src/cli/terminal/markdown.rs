//! Markdown, for comments and summaries of code-review services.

use std::prelude::v1::*;

use super::visible::visible;

/// A name as code in a cell of a table.
pub fn code(name: &str) -> String {
    let cell = visible(name).replace('|', "\\|");
    // A name with a backquote needs a longer fence.
    if cell.contains('`') { format!("`` {cell} ``") } else { format!("`{cell}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_cells() {
        let names = ["a|b", "operator`", "a\nb"].map(code);
        assert_eq!(names, ["`a\\|b`", "`` operator` ``", "`a\\x0ab`"]);
    }
}
