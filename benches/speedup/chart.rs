//! The chart of the README: instructions that a profile saves, by program, compiler and way to use it. It is
//! drawn from a record of figures, so that drawing needs no measurement.
//!
//! A record is CSV: `program,gcc,VARIANT,...`, then a line for each program and compiler, in percent.

use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SIZE: (u32, u32) = (1200, 600);

/// Of the variants, in their order.
const COLOURS: [RGBColor; 2] = [RGBColor(176, 176, 176), RGBColor(31, 111, 180)];

/// A line of a record.
struct Line<'r> {
    program: &'r str,
    gcc: &'r str,
    saved: Vec<f64>,
}

/// Draws a record as SVG: one panel for each compiler.
pub fn draw(record: &str) -> Result<String> {
    let (head, lines) = record.split_once('\n').ok_or("an empty record")?;
    let variants: Vec<&str> = head.split(',').skip(2).collect();
    let lines: Vec<Line> = lines.lines().map(parse).collect::<Result<_>>()?;
    let mut compilers: Vec<&str> = lines.iter().map(|line| line.gcc).collect();
    compilers.dedup();
    let range = range(&lines);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        for (panel, gcc) in root.split_evenly((compilers.len(), 1)).iter().zip(&compilers) {
            let of_compiler: Vec<&Line> = lines.iter().filter(|line| line.gcc == *gcc).collect();
            draw_compiler(panel, gcc, &of_compiler, &variants, range.clone())?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn parse(line: &str) -> Result<Line<'_>> {
    let mut cells = line.split(',');
    let mut cell = || cells.next().ok_or_else(|| format!("too short: {line}"));
    let (program, gcc) = (cell()?, cell()?);
    let saved = cells.map(|cell| Ok(cell.parse()?)).collect::<Result<_>>()?;
    Ok(Line { program, gcc, saved })
}

/// The range of all panels, in percent: whole steps of two below the least and above the greatest value.
fn range(lines: &[Line]) -> Range<f64> {
    let saved = || lines.iter().flat_map(|line| line.saved.iter().copied());
    let (least, greatest) = (saved().fold(0.0, f64::min), saved().fold(0.0, f64::max));
    2.0 * (least / 2.0).floor()..2.0 * (greatest / 2.0).ceil()
}

/// A group of bars for each program.
fn draw_compiler(
    panel: &DrawingArea<SVGBackend, plotters::coord::Shift>,
    gcc: &str,
    lines: &[&Line],
    variants: &[&str],
    range: Range<f64>,
) -> Result<()> {
    let name = |position: &SegmentValue<usize>| match position {
        SegmentValue::CenterOf(program) => {
            lines.get(*program).map_or(String::new(), |line| line.program.to_owned())
        }
        _ => String::new(),
    };
    let percent = |percent: &f64| match percent {
        0.0 => "0".to_owned(),
        _ => format!("{percent:+.0}"),
    };
    let title = format!("gcc {gcc}: instructions saved compared with -O2, in percent");
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 17))
        .margin(8)
        .x_label_area_size(28)
        .y_label_area_size(40)
        .build_cartesian_2d((0..lines.len() - 1).into_segmented(), range)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(lines.len())
        .y_labels(8)
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&name)
        .y_label_formatter(&percent)
        .label_style(("sans-serif", 13))
        .draw()?;
    for (variant, (title, colour)) in variants.iter().zip(COLOURS).enumerate() {
        let bars = lines.iter().enumerate().map(|(program, line)| {
            let corners = [
                (SegmentValue::Exact(program), 0.0),
                (SegmentValue::Exact(program + 1), line.saved[variant]),
            ];
            let mut bar = Rectangle::new(corners, colour.filled());
            // The bars of a group stand side by side, with a gap to the next group.
            let width = SIZE.0 / lines.len() as u32;
            let own = width * 2 / 5;
            let left = width / 10 + own * variant as u32;
            bar.set_margin(0, 0, left, width - left - own);
            bar
        });
        chart
            .draw_series(bars)?
            .label(*title)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE)
        .label_font(("sans-serif", 13))
        .draw()?;
    Ok(())
}
