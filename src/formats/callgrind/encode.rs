//! Writes a profile for `callgrind_annotate`. The [parent module](super) has the layout.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use hashbrown::HashMap;

use crate::formats::EncodeError;
use crate::formats::frame_names::{FrameNames, NameOf, path};
use crate::profile::stacks::Frame;
use crate::profile::{Profile, SymbolId};

/// The text of a profile. `name_of` gives the name to show for a name in the object file.
pub fn encode(profile: &Profile, name_of: NameOf<'_>) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer {
        profile,
        names: FrameNames::new(&profile.symbols, name_of),
        text: String::new(),
        files: HashMap::new(),
        functions: HashMap::new(),
    };
    let lines = lines(profile);
    let all = lines.values().flat_map(|of| of.lines.values());
    let all = all.fold(0u64, |sum, &count| sum.saturating_add(count));
    let version = env!("CARGO_PKG_VERSION");
    let _ = write!(
        writer.text,
        "# callgrind format\nversion: 1\ncreator: countersink {version}\npositions: line\nevents: Executions\n\
         summary: {all}\n"
    );
    let most = profile.most_text();
    let mut functions: Vec<SymbolId> = lines.keys().copied().collect();
    profile.symbols.sort(&mut functions);
    for symbol in functions {
        writer.function(symbol, &lines[&symbol]);
        if writer.text.len() > most {
            return Err(EncodeError::Large(most));
        }
    }
    Ok(writer.text.into_bytes())
}

/// The counts of a function by line.
#[derive(Default)]
struct Lines {
    /// Executions by file and line. A function that the file declares represents the file.
    lines: BTreeMap<(SymbolId, i64), u64>,
    /// Calls by file, line and target.
    calls: BTreeMap<(SymbolId, i64, SymbolId), u64>,
}

/// The lines by outermost function. The same function represents a file everywhere.
fn lines(profile: &Profile) -> BTreeMap<SymbolId, Lines> {
    let symbols = &profile.symbols;
    let mut of_file = HashMap::new();
    let mut found = BTreeMap::<SymbolId, Lines>::new();
    profile.for_each_stack(&mut |frames, record| {
        let (Some(outermost), Some(&innermost)) = (frames.first(), frames.last()) else { return };
        let Frame { symbol, .. } = innermost;
        let line = symbols.line(innermost).max(0);
        let file = *of_file.entry(symbols.declared_in(symbol)).or_insert(symbol);
        let of = found.entry(outermost.symbol).or_default();
        if let Some(count) = record.count.filter(|&count| count > 0) {
            let sum = of.lines.entry((file, line)).or_default();
            *sum = sum.saturating_add(count);
        }
        for (&target, &calls) in &record.targets {
            let sum = of.calls.entry((file, line, target)).or_default();
            *sum = sum.saturating_add(calls);
        }
    });
    found.retain(|_, of| !of.lines.is_empty() || !of.calls.is_empty());
    found
}

struct Writer<'w> {
    profile: &'w Profile,
    names: FrameNames,
    text: String,
    files: HashMap<String, usize>,
    functions: HashMap<SymbolId, usize>,
}

impl Writer<'_> {
    fn function(&mut self, symbol: SymbolId, of: &Lines) {
        let own = self.file(symbol);
        let name = self.name(symbol);
        let _ = write!(self.text, "\nfl={own}\nfn={name}\n");
        let own = self.file(symbol);
        let mut now = own.clone();
        for (&(file, line), count) in &of.lines {
            self.go_to(file, &own, &mut now);
            let _ = writeln!(self.text, "{line} {count}");
        }
        for (&(file, line, target), &calls) in &of.calls {
            self.go_to(file, &own, &mut now);
            let (of_target, name) = (self.file(target), self.name(target));
            let declared = self.profile.symbols.declaration_line(target).unwrap_or(0);
            let cost = self.cost(target, calls);
            let _ = write!(
                self.text,
                "cfi={of_target}\ncfn={name}\ncalls={calls} {declared}\n{line} {cost}\n"
            );
        }
    }

    /// Writes the file of the next lines, if it changes.
    fn go_to(&mut self, file: SymbolId, own: &str, now: &mut String) {
        let file = self.file(file);
        if file != *now {
            let key = if file == own { "fe" } else { "fi" };
            let _ = writeln!(self.text, "{key}={file}");
            // Later lines have only the number.
            *now = number(&file);
        }
    }

    /// The executions of a function in a number of its calls.
    fn cost(&self, target: SymbolId, calls: u64) -> u64 {
        let Some(function) = self.profile.functions.get(&target) else { return 0 };
        let total = u64::try_from(function.body.total()).unwrap_or(u64::MAX);
        let heads = u128::from(function.head_count.max(calls).max(1));
        (u128::from(total) * u128::from(calls) / heads) as u64
    }

    /// The file that declares a symbol.
    fn file(&mut self, symbol: SymbolId) -> String {
        let path = match path(&self.profile.symbols, symbol) {
            empty if empty.is_empty() => "???".into(),
            path => path,
        };
        numbered(&mut self.files, path.clone(), &path)
    }

    fn name(&mut self, symbol: SymbolId) -> String {
        let name = self.names.of(symbol);
        numbered(&mut self.functions, symbol, name)
    }
}

/// The number of a text, with the text at its first use.
fn numbered<K: core::hash::Hash + Eq>(known: &mut HashMap<K, usize>, key: K, text: &str) -> String {
    if let Some(number) = known.get(&key) {
        return format!("({number})");
    }
    let number = known.len() + 1;
    known.insert(key, number);
    format!("({number}) {text}")
}

/// The number of a numbered text.
fn number(text: &str) -> String {
    text.split_inclusive(')').next().unwrap_or(text).into()
}
