//! The defects of a table, with their places.

use std::fmt;
use std::prelude::v1::*;

use crate::raw::reader::Damage;

/// A defect and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Number of the row group, from 0.
    pub group: Option<usize>,
    /// Number of the row in its group, from 0.
    pub row: Option<usize>,
    /// Name of the column.
    pub column: Option<&'static str>,
    /// The defect.
    pub defect: Defect,
}

/// A defect of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// The file is damaged or no Parquet file. The text is the crate's.
    #[error("damaged, or not a Parquet file: {0}")]
    Parquet(String),
    /// The crate panics.
    #[error("damaged: the crate parquet cannot read it")]
    Unexpected,
    /// A compression that the reader does not know.
    #[error("{0} compression is not read; write the table with snappy or none")]
    Compression(&'static str),
    /// A page claims more bytes than its compressed bytes can hold.
    #[error("a page claims {found} bytes, but its bytes in the file hold at most {most}")]
    Large {
        /// Bytes that it claims.
        found: u64,
        /// Bytes that its compressed bytes can hold.
        most: u64,
    },
    /// A column is missing.
    #[error("the column is missing; is this a table of countersink?")]
    Missing,
    /// A column of another type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// The expected type.
        expected: &'static str,
        /// The column's type.
        found: String,
    },
    /// Another version of the table.
    #[error("expected version {expected} of the table, found {found}")]
    Version {
        /// The only version that the reader accepts.
        expected: i32,
        /// The row's.
        found: i128,
    },
    /// A missing value.
    #[error("expected a value, found NULL")]
    Null,
    /// A column has fewer rows than the row group.
    #[error("expected {expected} rows, found {found}")]
    Short {
        /// Rows of the group.
        expected: u64,
        /// Rows of the column.
        found: u64,
    },
    /// A negative count.
    #[error("expected a count, found {0}")]
    Negative(i128),
    /// A number that its column does not allow.
    #[error("expected a number up to {most}, found {found}")]
    Number {
        /// The largest.
        most: i128,
        /// The row's.
        found: i128,
    },
    /// A text that its column does not allow.
    #[error("expected {expected}, found \"{found}\"")]
    Text {
        /// The expected text.
        expected: &'static str,
        /// The row's.
        found: String,
    },
    /// The layout of a module is damaged.
    #[error("damaged layout: {0}")]
    Layout(Damage),
    /// A layout is not one module without counts.
    #[error("expected the layout of one module, found another dump")]
    NoLayout,
    /// No row has the layout of this module.
    #[error(
        "no row has the layout of module {0}; queries must keep the rows where what = 'layout'"
    )]
    NoModule(String),
    /// The module has no such counter or site.
    #[error("function {function} of the module has no number {index} of this kind")]
    Place {
        /// Number of the function.
        function: i128,
        /// Number of the counter or site.
        index: i128,
    },
    /// Modules of machines with different orders of bytes or widths of pointers.
    #[error("modules of different machines")]
    Machines,
    /// A second row with the same key.
    #[error("a second row of this key; was a table read twice?")]
    Repeated,
    /// Bodies are inlined too deep.
    #[error("functions inlined into each other deeper than {0}")]
    Depth(usize),
}

impl Fault {
    /// A defect of the file.
    pub const fn of_file(defect: Defect) -> Self {
        Self { group: None, row: None, column: None, defect }
    }

    /// A defect of a column.
    pub const fn of_column(column: &'static str, defect: Defect) -> Self {
        Self { group: None, row: None, column: Some(column), defect }
    }
}

/// Sums that are too large for a dump or a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limited {
    /// The first one. Its defect is a [`Defect::Number`].
    pub first: Option<Fault>,
    /// How many there are.
    pub number: u64,
}

impl Limited {
    /// Notes a sum.
    pub fn note(&mut self, fault: impl FnOnce() -> Fault) {
        self.first.get_or_insert_with(fault);
        self.number += 1;
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let places = [
            self.group.map(|number| format!("row group {number}")),
            self.row.map(|number| format!("row {number}")),
            self.column.map(|name| format!("column {name}")),
        ];
        for place in places.iter().flatten() {
            write!(f, "{separator}{place}")?;
            separator = ", ";
        }
        if !separator.is_empty() {
            f.write_str(": ")?;
        }
        self.defect.fmt(f)
    }
}

impl std::error::Error for Fault {}
