//! Tables of counters and of positions: reading is the inverse of writing, and the reader refuses damaged tables.
#![cfg(all(feature = "cli", feature = "parquet"))]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::Arc;

use countersink::formats::parquet::columns::{Column, Kind, Writer};
use countersink::formats::parquet::counters::encode::Encoder;
use countersink::formats::parquet::{Content, Defect, Fault, decode};
use countersink::raw::dump::Dump;
use countersink::raw::dump::sum::Sum;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::harness::{Workshop, skip};

/// The dumps of four runs of a program that calls through pointers. Each run has other targets.
fn trained(shop: &Workshop) -> Vec<String> {
    shop.program("promoted.c");
    let object = shop.compile("promoted.c", &["-fprofile-update=single"]);
    shop.link(&[&object], "prog", &[]);
    let runs = (0..4).map(|run| {
        let dump = format!("prof/{}/{run}.csraw", run % 2);
        fs::create_dir_all(shop.path(&dump).parent().unwrap()).unwrap();
        let mut prog = shop.command(shop.path("prog"));
        prog.arg(run.to_string()).env("COUNTERSINK_FILE", &dump).output().unwrap();
        assert!(shop.path(&dump).exists());
        dump
    });
    runs.collect()
}

/// The dump from a table of some inputs, and the dump from `merge` of the same inputs.
fn both_sums(shop: &Workshop, inputs: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let convert = [&["convert"], inputs, &["--to", "parquet", "-o", "table.parquet"]].concat();
    shop.tool_output(&convert);
    shop.tool_output(&["merge", "table.parquet", "-o", "back.csraw"]);
    shop.tool_output(&[&["merge"], inputs, &["-o", "sum.csraw"]].concat());
    (shop.read("back.csraw"), shop.read("sum.csraw"))
}

#[test]
fn dumps_of_gcc_come_back() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    let (back, sum) = both_sums(&shop, &[&dumps[0]]);
    assert_eq!(back, sum);
    assert_eq!(back, shop.read(&dumps[0]));
    let (back, sum) = both_sums(&shop, &["prof"]);
    assert_eq!(back, sum);
    // Other commands read tables, too.
    let v4 = |input: &str| shop.tool_output(&["convert", input, "--to", "v4", "-o", "-"]);
    assert_eq!(v4("table.parquet"), v4("sum.csraw"));
    let show = |input: &str| shop.tool_output(&["show", input, "--json"]);
    assert_eq!(show("table.parquet"), show("sum.csraw"));
    shop.tool_output(&["check", "table.parquet"]);
}

#[test]
fn dumps_of_clang_come_back() {
    let clangs = ["clang++", "clang++-22", "clang++-16", "clang++-14", "clang++-13"];
    let runs = |clang: &&str| Command::new(clang).arg("--version").output().is_ok();
    let Some(clang) = clangs.into_iter().find(runs) else { return skip("no clang++") };
    let shop = Workshop::new();
    shop.program("values.cc");
    for (name, flags) in [
        ("ir", ["-fprofile-generate", "-g"]),
        ("fe", ["-fprofile-instr-generate", "-fcoverage-mapping"]),
    ] {
        let mut compile = shop.command(clang);
        let library = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
        compile.args(["-O1", "values.cc", "-o", name]).args(flags).args(library.split_whitespace());
        crate::harness::succeed(&mut compile);
        for run in ["1", "2"] {
            let mut prog = shop.command(shop.path(name));
            prog.env("COUNTERSINK_FILE", format!("{name}{run}.csraw")).output().unwrap();
        }
        let inputs = [format!("{name}1.csraw"), format!("{name}2.csraw")];
        let (back, sum) = both_sums(&shop, &[&inputs[0], &inputs[1]]);
        assert_eq!(back, sum);
        let text =
            |input: &str| shop.tool_output(&["convert", input, "--to", "proftext", "-o", "-"]);
        assert_eq!(text("table.parquet"), text("sum.csraw"));
    }
}

/// Counts at the limits of 64 bits come back unchanged.
#[test]
fn counts_at_their_limits_come_back() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    let dump = Dump::parse(&shop.read(&dumps[0])).unwrap();
    let scaled = |times: u32| {
        let mut dump = dump.clone();
        (0..times).for_each(|_| dump.scale(u32::MAX));
        dump
    };
    let all = [dump.clone(), scaled(1), scaled(2), scaled(3), scaled(3), scaled(3)];
    let mut sum = Sum::default();
    all.iter().for_each(|dump| sum.add(dump.clone()));
    let path = write(&shop, &all);
    let Ok(Content::Dump(back)) = decode(File::open(path).unwrap()) else { panic!("no dump") };
    assert_eq!(back.to_bytes(), sum.finish().to_bytes());
}

fn write(shop: &Workshop, dumps: &[Dump]) -> std::path::PathBuf {
    let mut bytes = Vec::new();
    let mut table = Encoder::new(&mut bytes).unwrap();
    for (number, dump) in dumps.iter().enumerate() {
        table.add(format!("{number}").as_bytes(), number as i64, dump.clone()).unwrap();
    }
    table.finish().unwrap();
    shop.write("written.parquet", bytes)
}

#[test]
fn profiles_come_back() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    for (number, dump) in dumps.iter().enumerate() {
        shop.tool_output(&["convert", dump, "--to", "v4", "-o", &format!("{number}.gcov")]);
    }
    let profiles = ["0.gcov", "1.gcov", "2.gcov", "3.gcov"];
    shop.tool_output(&["convert", "0.gcov", "--to", "parquet", "-o", "one.parquet"]);
    let v4 = |input: &str| shop.tool_output(&["convert", input, "--to", "v4", "-o", "-"]);
    assert_eq!(v4("one.parquet"), v4("0.gcov"));
    let convert = [&["convert"], &profiles[..], &["--to", "parquet", "-o", "all.parquet"]].concat();
    shop.tool_output(&convert);
    shop.tool_output(&[&["merge"], &profiles[..], &["-o", "sum.gcov"]].concat());
    assert_eq!(v4("all.parquet"), shop.read("sum.gcov"));
}

#[test]
fn mistakes_are_explained() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    let said = |arguments: &[&str]| {
        let output = shop.tool(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let table = ["--to", "parquet", "-o", "t.parquet"];
    fs::copy(shop.path(&dumps[0]), shop.path("0.csraw")).unwrap();
    let same = said(&[&["convert", &dumps[0], "0.csraw"], &table[..]].concat());
    assert!(same.contains("another input has the same id"), "{same}");
    shop.write("not.parquet", "PAR1, but nothing else");
    assert!(said(&["show", "not.parquet"]).contains("damaged, or not a Parquet file"));
}

/// The columns of a table with one row group.
fn columns(path: &std::path::Path) -> Vec<(String, Kind, Column)> {
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let group = file.get_row_group(0).unwrap();
    let rows = group.metadata().num_rows() as usize;
    let schema = file.metadata().file_metadata().schema_descr();
    let column = |place: usize| {
        let name = schema.column(place).name().to_owned();
        match group.get_column_reader(place).unwrap() {
            ColumnReader::Int32ColumnReader(mut reader) => {
                let mut values = Vec::new();
                reader.read_records(rows, None, None, &mut values).unwrap();
                (name, Kind::Int, Column::Int(values))
            }
            ColumnReader::Int64ColumnReader(mut reader) => {
                let mut values = Vec::new();
                reader.read_records(rows, None, None, &mut values).unwrap();
                (name, Kind::Long, Column::Long(values))
            }
            ColumnReader::ByteArrayColumnReader(mut reader) => {
                let mut values = Vec::new();
                reader.read_records(rows, None, None, &mut values).unwrap();
                (name, Kind::Bytes, Column::Bytes(values))
            }
            ColumnReader::FixedLenByteArrayColumnReader(mut reader) => {
                let mut values = Vec::new();
                reader.read_records(rows, None, None, &mut values).unwrap();
                let number = |value: &parquet::data_type::FixedLenByteArray| {
                    value.data().iter().fold(0, |sum: i128, &byte| sum << 8 | i128::from(byte))
                };
                (name, Kind::Count, Column::Count(values.iter().map(number).collect()))
            }
            _ => panic!("{name}"),
        }
    };
    (0..schema.num_columns()).map(column).collect()
}

type Columns = Vec<(String, Kind, Column)>;

/// The bytes of a table with one row group.
fn written(table: &str, columns: &Columns) -> Vec<u8> {
    let mut bytes = Vec::new();
    let kinds: Vec<(&str, Kind)> = columns.iter().map(|(name, kind, _)| (&**name, *kind)).collect();
    let mut writer = Writer::new(table, &kinds, &mut bytes).unwrap();
    writer.write_group(&columns.iter().map(|(.., column)| column).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    bytes
}

fn fault_of(shop: &Workshop, path: &std::path::Path, change: impl FnOnce(&mut Columns)) -> Fault {
    let mut columns = columns(path);
    change(&mut columns);
    let bytes = written("counters", &columns);
    let changed = shop.write("changed.parquet", bytes);
    decode(File::open(changed).unwrap()).map(drop).unwrap_err()
}

fn column<'c>(columns: &'c mut Columns, name: &str) -> &'c mut Column {
    &mut columns.iter_mut().find(|(found, ..)| found == name).unwrap().2
}

#[test]
fn defects_have_a_row_group_a_row_and_a_column() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    let path = write(&shop, &[Dump::parse(&shop.read(&dumps[0])).unwrap()]);
    let fault = |change: &dyn Fn(&mut Columns)| fault_of(&shop, &path, change).to_string();
    let ints = |column: &mut Column, row: usize, value: i32| match column {
        Column::Int(values) => values[row] = value,
        _ => panic!("no numbers"),
    };
    let bytes = |column: &mut Column, row: usize, value: &str| match column {
        Column::Bytes(values) => values[row] = value.into(),
        _ => panic!("no text"),
    };
    let last = match &columns(&path)[0].2 {
        Column::Int(values) => values.len() - 1,
        _ => panic!("no version"),
    };
    assert_eq!(
        fault(&|c| ints(column(c, "version"), last, 2)),
        format!(
            "row group 0, row {last}, column version: expected version 1 of the table, found 2"
        )
    );
    assert_eq!(
        fault(&|c| c.retain(|(name, ..)| name != "bits")),
        "row group 0, column bits: the column is missing; is this a table of countersink?"
    );
    assert_eq!(
        fault(&|c| match column(c, "count") {
            Column::Count(counts) => counts[last] = -5,
            _ => panic!("no counts"),
        }),
        format!("row group 0, row {last}, column count: expected a count, found -5")
    );
    assert_eq!(
        fault(&|c| {
            let counts = c.iter_mut().find(|(name, ..)| name == "count").unwrap();
            (counts.1, counts.2) = (Kind::Bytes, Column::Bytes(vec!["1".into(); last + 1]));
        }),
        "row group 0, column count: expected whole numbers of up to 38 digits, found BYTE_ARRAY"
    );
    assert_eq!(
        fault(&|c| ints(column(c, "index"), last, 4711)),
        format!(
            "row group 0, row {last}, column index: function {} of the module has no number 4711 of this kind",
            match column(&mut columns(&path), "ordinal") {
                Column::Int(values) => values[last],
                _ => 0,
            }
        )
    );
    assert!(
        fault(&|c| bytes(column(c, "module"), last, "other"))
            .contains("column module: no row has the layout")
    );
    assert!(
        fault(&|c| bytes(column(c, "kind"), last, "nuts"))
            .contains("expected a kind of counters, found \"nuts\"")
    );
    assert!(
        fault(&|c| bytes(column(c, "content"), 0, "nuts"))
            .contains("row 0, column content: damaged layout")
    );
    let twice = |c: &mut Columns| {
        for (.., column) in c {
            match column {
                Column::Int(values) => values.push(values[last]),
                Column::Long(values) => values.push(values[last]),
                Column::Bytes(values) => values.push(values[last].clone()),
                Column::Count(values) => values.push(values[last]),
            }
        }
    };
    assert_eq!(
        fault(&twice),
        format!(
            "row group 0, row {}, column what: a second row of this key; was a table read twice?",
            last + 1
        )
    );
}

/// Engines write columns that may have missing values.
#[test]
fn a_missing_value_has_a_place() {
    use parquet::basic::{Repetition, Type as Physical};
    use parquet::data_type::Int32Type;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    let shop = Workshop::new();
    let names = ["version", "what", "module", "content"];
    let fields = names.map(|name| {
        let builder = Type::primitive_type_builder(name, Physical::INT32);
        Arc::new(builder.with_repetition(Repetition::OPTIONAL).build().unwrap())
    });
    let schema = Type::group_type_builder("counters").with_fields(fields.to_vec()).build().unwrap();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        column.typed::<Int32Type>().write_batch(&[1, 1], Some(&[1, 0, 1]), None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    let path = shop.write("nulls.parquet", file.into_inner().unwrap());
    let fault = decode(File::open(path).unwrap()).map(drop).unwrap_err();
    // The type of the next column is wrong, too. The reader finds it before it reads any row.
    assert!(matches!(fault.defect, Defect::Type { .. } | Defect::Null), "{fault}");
}

/// A file that is cut or changed gives a message or a sum, not a panic.
#[test]
#[ignore = "slow"]
fn damaged_tables_are_refused() {
    let shop = Workshop::new();
    shop.write("small.c", "int main(int argc, char **argv) { return argc > 9; }\n");
    let object = shop.compile("small.c", &[]);
    shop.link(&[&object], "small", &[]);
    shop.run("small", &[]);
    let path = write(&shop, &[Dump::parse(&shop.read("small.csraw")).unwrap()]);
    let bytes = fs::read(&path).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let decoded = || decode(File::open(&path).unwrap());
    assert!(decoded().is_ok());
    let mut unexpected = 0;
    for at in 0..bytes.len() {
        for flip in [1 << (at % 8), 0x80 >> (at % 8), 0xff] {
            file.write_all_at(&[bytes[at] ^ flip], at as u64).unwrap();
            if let Err(Fault { defect: Defect::Unexpected, .. }) = decoded() {
                unexpected += 1;
            }
        }
        file.write_all_at(&bytes[at..=at], at as u64).unwrap();
    }
    println!("{} bytes; the crate failed in an unexpected way {unexpected} times", bytes.len());
    for length in (0..bytes.len()).rev() {
        file.set_len(length as u64).unwrap();
        assert!(decoded().is_err(), "cut at {length}");
    }
}

/// Engines write a file for each of their tasks, and some of these files have no rows.
#[test]
fn tables_without_rows_are_empty() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    shop.tool_output(&["convert", &dumps[0], "--to", "v4", "-o", "0.gcov"]);
    for (input, table) in [(&*dumps[0], "counters"), ("0.gcov", "positions")] {
        shop.tool_output(&["convert", input, "--to", "parquet", "-o", "full.parquet"]);
        let mut columns = columns(&shop.path("full.parquet"));
        for (.., column) in &mut columns {
            match column {
                Column::Int(values) => values.clear(),
                Column::Long(values) => values.clear(),
                Column::Bytes(values) => values.clear(),
                Column::Count(values) => values.clear(),
            }
        }
        shop.write("empty.parquet", written(table, &columns));
        shop.tool_output(&["check", "empty.parquet"]);
        shop.tool_output(&["merge", input, "empty.parquet", "-o", "both"]);
        shop.tool_output(&["merge", input, "-o", "one"]);
        assert_eq!(shop.read("both"), shop.read("one"));
    }
}

/// The reader has no decompressor but that of snappy.
#[test]
fn other_compressions_are_named() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    shop.tool_output(&["convert", &dumps[0], "--to", "parquet", "-o", "snappy.parquet"]);
    let bytes = shop.read("snappy.parquet");
    for (number, name) in [(2, "gzip"), (4, "brotli"), (5, "lz4"), (6, "zstd"), (7, "lz4")] {
        let mut bytes = bytes.clone();
        // Behind a column's path, its metadata have the compression: snappy is 1, and zigzag doubles it.
        let path = b"\x18\x04what\x15";
        let at = bytes.windows(path.len()).position(|found| found == path).unwrap() + path.len();
        assert_eq!(bytes[at], 2);
        bytes[at] = 2 * number;
        shop.write("other.parquet", bytes);
        let output = shop.tool(&["check", "other.parquet"]);
        assert_eq!(output.status.code(), Some(2));
        let expected = format!(
            "countersink: other.parquet: row group 0: {name} compression is not read; write the table with snappy or none\n"
        );
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    }
}

/// A missing column is one of the table that the metadata name, or else of the table that has the other columns.
#[test]
fn a_missing_column_does_not_change_the_table() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    shop.tool_output(&["convert", &dumps[0], "--to", "v4", "-o", "0.gcov"]);
    shop.tool_output(&["convert", "0.gcov", "--to", "parquet", "-o", "full.parquet"]);
    for missing in ["symbol", "discriminator"] {
        for table in ["positions", "schema"] {
            let mut columns = columns(&shop.path("full.parquet"));
            columns.retain(|(name, ..)| name != missing);
            let path = shop.write("other.parquet", written(table, &columns));
            let fault = decode(File::open(path).unwrap()).map(drop).unwrap_err();
            let expected = format!(
                "row group 0, column {missing}: the column is missing; is this a table of countersink?"
            );
            assert_eq!(fault.to_string(), expected);
        }
    }
}

/// Decimal numbers of 256 bits are sound, but no count has so many digits.
#[test]
fn long_decimal_numbers_are_named() {
    use parquet::basic::{LogicalType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    let shop = Workshop::new();
    let numbers = ["version", "line", "discriminator"];
    let texts = ["symbol", "file", "path", "what", "target", "target_file", "profile"];
    let field = |name: &'static str, physical| {
        Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED)
    };
    let count = field("count", Physical::FIXED_LEN_BYTE_ARRAY)
        .with_length(32)
        .with_precision(40)
        .with_scale(0)
        .with_logical_type(Some(LogicalType::decimal(0, 40)));
    let fields = numbers.map(|name| field(name, Physical::INT32)).into_iter();
    let fields = fields.chain(texts.map(|name| field(name, Physical::BYTE_ARRAY))).chain([count]);
    let fields = fields.map(|field| Arc::new(field.build().unwrap())).collect();
    let schema = Type::group_type_builder("positions").with_fields(fields).build().unwrap();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    for place in 0..numbers.len() + texts.len() + 1 {
        let mut column = group.next_column().unwrap().unwrap();
        if place < numbers.len() {
            column.typed::<Int32Type>().write_batch(&[1], None, None).unwrap();
        } else if place < numbers.len() + texts.len() {
            column.typed::<ByteArrayType>().write_batch(&["a".into()], None, None).unwrap();
        } else {
            let count = FixedLenByteArray::from(vec![0; 32]);
            column.typed::<FixedLenByteArrayType>().write_batch(&[count], None, None).unwrap();
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    let path = shop.write("long.parquet", file.into_inner().unwrap());
    assert_eq!(
        decode(File::open(path).unwrap()).map(drop).unwrap_err().to_string(),
        "row group 0, column count: expected whole numbers of up to 38 digits, found DECIMAL(40, 0)"
    );
}

/// No profile can have these names, files and lines.
#[test]
fn names_that_no_profile_has_have_a_place() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    shop.tool_output(&["convert", &dumps[0], "--to", "v4", "-o", "0.gcov"]);
    shop.tool_output(&["convert", "0.gcov", "--to", "parquet", "-o", "full.parquet"]);
    let expected = "LINE.DISCRIMINATOR>SYMBOL@FILE, several with ; between them";
    for (name, value, expected) in [
        ("symbol", "", "a name"),
        ("symbol", "a\0b", "text without a NUL"),
        ("symbol", "a%00b", "text without a NUL"),
        ("file", "a\0b", "text without a NUL"),
        ("path", "1.0>@a.c", expected),
        ("path", "1.0>a\0@a.c", expected),
        ("path", "16777216.0>a@a.c", expected),
    ] {
        let mut columns = columns(&shop.path("full.parquet"));
        let Column::Bytes(values) = column(&mut columns, name) else { panic!("no text") };
        values[1] = value.into();
        let path = shop.write("other.parquet", written("positions", &columns));
        let fault = decode(File::open(path).unwrap()).map(drop).unwrap_err();
        let expected =
            format!("row group 0, row 1, column {name}: expected {expected}, found \"{value}\"");
        assert_eq!(fault.to_string(), expected);
    }
    let mut columns = columns(&shop.path("full.parquet"));
    let Column::Long(values) = column(&mut columns, "line") else { panic!("no numbers") };
    values[1] = 1 << 24;
    let path = shop.write("other.parquet", written("positions", &columns));
    let fault = decode(File::open(path).unwrap()).map(drop).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "row group 0, row 1, column line: expected a number up to 16777215, found 16777216"
    );
}

/// A table of dumps says where the next one starts.
#[test]
fn writing_says_what_was_written() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    let said = |arguments: &[&str]| {
        let output = shop.tool(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let rows = |table: &str| {
        let file = SerializedFileReader::new(File::open(shop.path(table)).unwrap()).unwrap();
        file.metadata().file_metadata().num_rows()
    };
    let arguments = ["convert", "prof", "--to", "parquet", "--first", "7", "-o", "t.parquet"];
    let line = said(&arguments);
    let expected = format!(
        "countersink: 4 dumps, {} rows; the next table starts at --first 11\n",
        rows("t.parquet")
    );
    assert_eq!(line, expected);
    shop.tool_output(&["convert", &dumps[0], "--to", "v4", "-o", "0.gcov"]);
    let line = said(&["convert", "0.gcov", "--to", "parquet", "-o", "t.parquet"]);
    assert_eq!(line, format!("countersink: 1 profile, {} rows\n", rows("t.parquet")));
}

/// Sums of engines have more digits than counts. A profile keeps the largest count, and the tool says so.
#[test]
fn sums_that_are_too_large_are_reported() {
    let shop = Workshop::new();
    let dumps = trained(&shop);
    shop.tool_output(&["convert", &dumps[0], "--to", "v4", "-o", "0.gcov"]);
    for (input, table, what, most) in [
        (&*dumps[0], "counters", "counter", u64::MAX),
        ("0.gcov", "positions", "count", i64::MAX as u64),
    ] {
        shop.tool_output(&["convert", input, "--to", "parquet", "-o", "full.parquet"]);
        for (count, is_large) in [(i128::from(most), false), (i128::from(most) + 1, true)] {
            let mut columns = columns(&shop.path("full.parquet"));
            let text = |columns: &mut Columns, name: &str| match column(columns, name) {
                Column::Bytes(values) => values.clone(),
                _ => panic!("no text"),
            };
            let (whats, rules) = (text(&mut columns, "what"), text(&mut columns, "rule"));
            let mut rows = whats.iter().zip(&rules);
            let is_it = |(found, rule): (&ByteArray, &ByteArray)| {
                found.data() == what.as_bytes() && rule.data() == b"sum"
            };
            let row = rows.position(is_it).unwrap();
            let Column::Count(counts) = column(&mut columns, "count") else { panic!("no counts") };
            counts[row] = count;
            shop.write("large.parquet", written(table, &columns));
            let output = shop.tool(&["check", "large.parquet"]);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let errors = String::from_utf8(output.stderr).unwrap();
            let expected = format!(
                "large.parquet: row group 0, row {row}, column count: expected a number up to {most}, found {count}; 1 count too large"
            );
            assert_eq!(errors.contains(&expected), is_large, "{errors}");
        }
    }
}
