//! How a compiler would read a profile: what it needs of one source file, and no more.
//!
//! `cargo run --example embed PROFILE SOURCE [FUNCTION]` prints the functions that a source file declares, or
//! the counts of one of them, as they stand in a version 4 profile. It decodes only the directory of the file
//! and what it prints. Where a program may map files into memory, it need not even read the other bytes.

use std::error::Error;

use countersink::formats::afdo_v4::lookup::{Profile, Source};
use countersink::formats::afdo_v4::records::{Records, What};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, path, function) = match &arguments[..] {
        [file, path] => (file, path, None),
        [file, path, function] => (file, path, Some(function)),
        _ => return Err("usage: embed PROFILE SOURCE [FUNCTION]".into()),
    };
    let bytes = std::fs::read(file)?;
    let profile = Profile::open(&bytes)?;
    let source = profile.source(path.as_bytes()).ok_or("the profile has no such source")?;
    match function {
        None => functions(&profile, source)?,
        Some(name) => match profile.function(source, name.as_bytes())? {
            Some(records) => counts(&profile, records)?,
            None => return Err("the profile has no such function".into()),
        },
    }
    Ok(())
}

/// Prints the functions that have counts, and how often each was entered.
fn functions(profile: &Profile, source: &Source) -> Result<(), Box<dyn Error>> {
    let mut heads = std::collections::HashMap::new();
    for symbol in profile.symbols(source)? {
        let symbol = symbol?;
        if let Some(info) = symbol.info {
            heads.insert(symbol.string, profile.records(info)?.head_count);
        }
    }
    let mut names = profile.strings(source)?;
    while let Some((string, name)) = names.next()? {
        if let Some(head_count) = heads.get(&string) {
            println!("{head_count:>12} {}", String::from_utf8_lossy(name));
        }
    }
    Ok(())
}

/// Prints the records of a function as a tree.
fn counts(profile: &Profile, records: Records) -> Result<(), Box<dyn Error>> {
    println!("entered {} times", records.head_count);
    for record in records {
        let record = record?;
        let name = |id| -> Result<String, Box<dyn Error>> {
            Ok(String::from_utf8_lossy(&profile.name(id)?.unwrap_or_default()).into_owned())
        };
        let what = match record.what {
            What::Count(count) => format!("{count} times"),
            What::Target { symbol, calls } => format!("{calls} calls of {}", name(symbol)?),
            What::Inlined(symbol) => format!("{} inlined:", name(symbol)?),
        };
        let (line, discriminator) = (record.position.signed_line(), record.position.discriminator);
        println!("{:indent$}{line}.{discriminator}: {what}", "", indent = 2 * record.depth);
    }
    Ok(())
}
