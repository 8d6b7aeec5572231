//! The tables: one for each compiler with all figures, and one of instructions for the book.

use crate::builds::Variant;
use crate::measure::Figures;

/// The figures of a program with a compiler.
pub struct Row {
    /// Index of the program's group.
    pub group: usize,
    pub program: &'static str,
    pub gcc: u32,
    /// The figures of each variant, the plain one first.
    pub figures: Vec<Figures>,
}

impl Row {
    /// The instructions, on one line.
    pub fn summary(&self) -> String {
        let saved: Vec<String> =
            (1..self.figures.len()).map(|v| percent(self.saved(INSTRUCTIONS, v))).collect();
        let plain = self.figures[0].instructions as f64 / 1e6;
        let Self { program, gcc, .. } = self;
        format!("  {program}, gcc {gcc}: {plain:.1} M instructions; {}", saved.join(", "))
    }

    /// How much less a variant takes than the plain one, in percent.
    fn saved(&self, kind: Kind, variant: usize) -> Option<f64> {
        let (plain, other) =
            ((kind.value)(&self.figures[0])?, (kind.value)(&self.figures[variant])?);
        Some(100.0 * (1.0 - other / plain))
    }
}

/// A kind of figure.
#[derive(Clone, Copy)]
struct Kind {
    title: &'static str,
    value: fn(&Figures) -> Option<f64>,
    /// The divisor for the plain variant's figure, and the number of digits of the result.
    unit: (f64, usize),
}

const INSTRUCTIONS: Kind = Kind {
    title: "million instructions",
    value: |figures| Some(figures.instructions as f64),
    unit: (1e6, 1),
};

const KINDS: [Kind; 4] = [
    INSTRUCTIONS,
    Kind {
        title: "million mispredictions",
        value: |figures| Some(figures.mispredictions as f64),
        unit: (1e6, 2),
    },
    Kind {
        title: "million I1 misses",
        value: |figures| Some(figures.instruction_misses as f64),
        unit: (1e6, 3),
    },
    Kind {
        title: "seconds",
        value: |figures| figures.time.map(|time| time.as_secs_f64()),
        unit: (1.0, 3),
    },
];

/// Prints all tables.
pub fn print(rows: &[Row], groups: &[&str], variants: &[Variant]) {
    let mut compilers: Vec<u32> = rows.iter().map(|row| row.gcc).collect();
    compilers.dedup();
    for &gcc in &compilers {
        let of_compiler: Vec<&Row> = rows.iter().filter(|row| row.gcc == gcc).collect();
        print_all_figures(gcc, &of_compiler, groups, variants);
    }
    print_instructions(rows, &compilers, groups, variants);
}

/// The saved instructions as CSV, for `chart`.
pub fn record(rows: &[Row], variants: &[Variant]) -> String {
    let titles = variants[1..].iter().map(|variant| variant.title().replace('`', ""));
    let mut lines = vec![["program".into(), "gcc".into()].into_iter().chain(titles).collect()];
    for row in rows.iter().filter(|row| !row.figures.is_empty()) {
        let saved = (1..variants.len()).map(|v| row.saved(INSTRUCTIONS, v).unwrap_or_default());
        let cells = [row.program.to_owned(), row.gcc.to_string()].into_iter();
        lines.push(cells.chain(saved.map(|saved| format!("{saved:.1}"))).collect::<Vec<_>>());
    }
    lines.iter().map(|cells| format!("{}\n", cells.join(","))).collect()
}

/// Every figure of one compiler: the cost with `-O2`, and what the others save.
fn print_all_figures(gcc: u32, rows: &[&Row], groups: &[&str], variants: &[Variant]) {
    let kinds: Vec<Kind> =
        KINDS.into_iter().filter(|kind| rows.iter().all(|r| r.saved(*kind, 0).is_some())).collect();
    let mut heads = vec![format!("gcc {gcc}")];
    for kind in &kinds {
        heads.push(format!("{}, {}", kind.title, variants[0].title()));
        heads.extend(variants[1..].iter().map(|variant| variant.title().to_owned()));
    }
    println!();
    print_heads(&heads);
    for (group, title) in groups.iter().enumerate() {
        let of_group: Vec<&&Row> = rows.iter().filter(|row| row.group == group).collect();
        for row in &of_group {
            let mut cells = vec![row.program.to_owned()];
            for kind in &kinds {
                let (unit, digits) = kind.unit;
                let plain = (kind.value)(&row.figures[0]).unwrap() / unit;
                cells.push(format!("{plain:.digits$}"));
                cells.extend((1..variants.len()).map(|v| percent(row.saved(*kind, v))));
            }
            print_row(&cells);
        }
        if of_group.len() > 1 {
            let (mut means, mut sums) = (vec![bold(title, "mean")], vec![bold(title, "sum")]);
            for kind in &kinds {
                let (unit, digits) = kind.unit;
                let sum = |v: usize| {
                    of_group.iter().map(|row| (kind.value)(&row.figures[v]).unwrap()).sum::<f64>()
                };
                means.push(String::new());
                sums.push(format!("{:.digits$}", sum(0) / unit));
                for v in 1..variants.len() {
                    means.push(percent(mean(of_group.iter().map(|row| row.saved(*kind, v)))));
                    sums.push(percent(Some(100.0 * (1.0 - sum(v) / sum(0)))));
                }
            }
            print_row(&means);
            print_row(&sums);
        }
    }
}

/// Instructions saved, with all compilers side by side.
fn print_instructions(rows: &[Row], compilers: &[u32], groups: &[&str], variants: &[Variant]) {
    let columns = || {
        let variants = 1..variants.len();
        compilers.iter().flat_map(move |&gcc| variants.clone().map(move |variant| (gcc, variant)))
    };
    let mut heads = vec!["instructions saved".to_owned()];
    heads.extend(columns().map(|(gcc, v)| format!("gcc {gcc}, {}", variants[v].title())));
    println!();
    print_heads(&heads);
    for (group, title) in groups.iter().enumerate() {
        let of_group = || rows.iter().filter(move |row| row.group == group);
        let mut programs: Vec<&str> = vec![];
        for row in of_group() {
            if !programs.contains(&row.program) {
                programs.push(row.program);
            }
        }
        for program in &programs {
            let cell = |(gcc, v)| {
                let row = of_group().find(|row| row.gcc == gcc && row.program == *program);
                percent(row.and_then(|row| row.saved(INSTRUCTIONS, v)))
            };
            let cells = [program.to_string()].into_iter().chain(columns().map(cell));
            print_row(&cells.collect::<Vec<_>>());
        }
        if programs.len() > 1 {
            let cell = |(gcc, v)| {
                let rows = of_group().filter(|row| row.gcc == gcc);
                format!("**{}**", percent(mean(rows.map(|row| row.saved(INSTRUCTIONS, v)))))
            };
            let cells = [bold(title, "mean")].into_iter().chain(columns().map(cell));
            print_row(&cells.collect::<Vec<_>>());
        }
    }
}

fn print_heads(heads: &[String]) {
    print_row(heads);
    println!("|{}", "---|".repeat(heads.len()));
}

fn print_row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// The head of a row about a whole group.
fn bold(group: &str, what: &str) -> String {
    format!("**{group}, {what}**")
}

fn percent(saved: Option<f64>) -> String {
    saved.map_or("-".to_owned(), |saved| format!("{saved:+.1} %"))
}

/// The mean, if all values are there.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}
