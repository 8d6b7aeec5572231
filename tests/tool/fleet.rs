//! DuckDB's merge of the tables of a small fleet gives the bytes of `countersink merge`.
//!
//! Spark is too large for the tests. `examples/fleet/try-spark` runs it by hand.
#![cfg(all(feature = "cli", feature = "parquet"))]

use std::fs;
use std::path::Path;

use crate::harness::{Workshop, python_with, skip, succeed};

const DUMPS: usize = 25;

/// The statements of `examples/fleet/merge.sql`. `variant` is the number of the view in `variants.sql` that replaces
/// its view.
fn statements(variant: Option<usize>) -> String {
    let read = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fleet/");
        fs::read_to_string(format!("{folder}{name}")).unwrap()
    };
    let merge = read("merge.sql");
    let Some(variant) = variant else { return merge };
    let view = "CREATE OR REPLACE TEMP VIEW";
    let variants = read("variants.sql");
    let chosen = variants.split(view).nth(1 + variant).unwrap();
    let (_, copy) = merge.split_at(merge.find("COPY (").unwrap());
    format!("{view}{}\n;{copy}", chosen.trim_end().rsplit_once(';').unwrap().0)
}

fn merged(shop: &Workshop, python: &str, variant: Option<usize>) -> Vec<u8> {
    shop.write("now.sql", statements(variant));
    let run = "import duckdb; duckdb.execute(open('now.sql').read())";
    succeed(shop.command(python).args(["-c", run]));
    shop.tool_output(&["merge", "merged.parquet", "-o", "back.csraw"]);
    shop.read("back.csraw")
}

#[test]
#[ignore = "a minute, most of it for three builds of Lua"]
fn duckdb_merges_as_the_tool_does_by_hand() {
    let Some(python) = python_with("duckdb") else { return };
    if crate::harness::corpus("lua-src").is_none() {
        return skip("no sources of Lua");
    }
    let shop = Workshop::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet/dumps");
    let mut make = shop.command(script);
    make.arg(".").arg(DUMPS.to_string()).env("PROGRAMS", "lua");
    make.env("COUNTERSINK", env!("CARGO_BIN_EXE_countersink"));
    println!("{}", String::from_utf8_lossy(&succeed(&mut make)));

    // One table per day. The numbers of the dumps continue from day to day.
    let mut days: Vec<_> =
        fs::read_dir(shop.path("dumps")).unwrap().map(|day| day.unwrap()).collect();
    days.sort_by_key(fs::DirEntry::file_name);
    let mut first = 0;
    for day in &days {
        let name = day.file_name().into_string().unwrap();
        let (folder, table) = (format!("dumps/{name}"), format!("tables/{name}.parquet"));
        let first_now = first.to_string();
        let convert = [
            "convert", &folder, "--to", "parquet", "--below", "dumps", "--first", &first_now, "-o",
        ];
        let convert = |table: &str| shop.tool_output(&[&convert[..], &[table]].concat());
        convert(&table);
        // A second attempt writes the same bytes.
        convert("again.parquet");
        assert_eq!(shop.read("again.parquet"), shop.read(&table));
        first += fs::read_dir(day.path()).unwrap().count();
    }
    assert_eq!(first, DUMPS);
    shop.tool_output(&["merge", "dumps", "-o", "sum.csraw"]);
    let sum = shop.read("sum.csraw");
    assert_eq!(merged(&shop, &python, None), sum);
    // The merged table is a table of the same form.
    fs::create_dir(shop.path("parts")).unwrap();
    fs::rename(shop.path("tables"), shop.path("parts/tables")).unwrap();
    fs::create_dir(shop.path("tables")).unwrap();
    fs::rename(shop.path("merged.parquet"), shop.path("tables/all.parquet")).unwrap();
    assert_eq!(merged(&shop, &python, None), sum);
    fs::remove_dir_all(shop.path("tables")).unwrap();
    fs::rename(shop.path("parts/tables"), shop.path("tables")).unwrap();

    let week: Vec<String> =
        days.iter().skip(3).map(|day| format!("dumps/{}", day.file_name().display())).collect();
    let week: Vec<&str> = week.iter().map(String::as_str).collect();
    shop.tool_output(&[&["merge"], &week[..], &["-o", "week.csraw"]].concat());
    assert_eq!(merged(&shop, &python, Some(1)), shop.read("week.csraw"), "seven days");
    // A weight acts like a number of runs.
    let weighted = |weight_of: &dyn Fn(usize) -> u32| {
        let mut arguments = vec!["merge".to_owned()];
        for (place, day) in days.iter().enumerate() {
            let mut dumps: Vec<_> =
                fs::read_dir(day.path()).unwrap().map(|dump| dump.unwrap().path()).collect();
            dumps.sort();
            for dump in dumps {
                let weight = weight_of(place);
                arguments.extend(["--weight".into(), format!("{weight}={}", dump.display())]);
            }
        }
        arguments.extend(["-o".into(), "weighted.csraw".into()]);
        shop.tool_output(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        shop.read("weighted.csraw")
    };
    assert_eq!(merged(&shop, &python, Some(0)), weighted(&|_| 10), "weights");
    let last = days.len() - 1;
    assert_eq!(merged(&shop, &python, Some(2)), weighted(&|day| 1024 >> (last - day)), "decay");
    merged(&shop, &python, Some(3));
    fs::copy(shop.path("tables/2026-11-03.parquet"), shop.path("tables/doubled.parquet")).unwrap();
    assert_eq!(merged(&shop, &python, Some(4)), sum, "a doubled table");
}
