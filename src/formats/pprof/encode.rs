//! Writes a profile for `pprof`. The [parent module](super) has the layout.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::message::Message;
use crate::formats::EncodeError;
use crate::formats::frame_names::{NameOf, path, visible};
use crate::profile::stacks::Frame;
use crate::profile::{Position, Profile, Record, SymbolId};

/// A program that wrote counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Path of the program or shared object.
    pub path: String,
    /// The build-id in hexadecimal.
    pub build_id: String,
}

/// The file of a profile. `images` are the known programs that wrote the counts. `name_of` gives the
/// name to show for a name in the object file.
pub fn encode(
    profile: &Profile,
    images: &[Image],
    name_of: NameOf<'_>,
) -> Result<Vec<u8>, EncodeError> {
    let mut writer = Writer {
        profile,
        name_of,
        out: Message::default(),
        strings: Strings::default(),
        functions: HashMap::new(),
        locations: HashMap::new(),
        mapping: u64::from(images.len() == 1),
    };
    writer.strings.index("");
    for kind in ["executions", "calls"] {
        let mut of = Message::default();
        of.number(1, writer.strings.index(kind));
        of.number(2, writer.strings.index("count"));
        writer.out.bytes(1, &of.bytes);
    }
    for (image, id) in images.iter().zip(1..) {
        writer.image(image, id);
    }
    let most = profile.most_text();
    let mut is_large = false;
    profile.for_each_stack(&mut |frames, record| {
        is_large = is_large || writer.out.bytes.len() > most;
        if !is_large {
            writer.record(frames, record);
        }
    });
    if is_large {
        return Err(EncodeError::Large(most));
    }
    Ok(gzip(&writer.finish()))
}

/// The table of strings.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    indexes: HashMap<String, u64>,
}

impl Strings {
    fn index(&mut self, text: &str) -> u64 {
        if let Some(&index) = self.indexes.get(text) {
            return index;
        }
        let index = self.all.len() as u64;
        self.all.push(text.into());
        self.indexes.insert(text.into(), index);
        index
    }
}

struct Writer<'w> {
    profile: &'w Profile,
    name_of: NameOf<'w>,
    out: Message,
    strings: Strings,
    functions: HashMap<SymbolId, u64>,
    locations: HashMap<Vec<Frame>, u64>,
    mapping: u64,
}

impl Writer<'_> {
    fn image(&mut self, image: &Image, id: u64) {
        let mut mapping = Message::default();
        mapping.number(1, id);
        mapping.number(5, self.strings.index(&visible(&image.path)));
        mapping.number(6, self.strings.index(&image.build_id));
        (7..=10).for_each(|field| mapping.number(field, 1));
        self.out.bytes(3, &mapping.bytes);
    }

    fn record(&mut self, frames: &[Frame], record: &Record) {
        if let Some(count) = record.count.filter(|&count| count > 0) {
            let location = self.location(frames);
            self.sample(&[location], count, 0);
        }
        for (symbol, &calls) in self.profile.symbols.sorted(&record.targets) {
            let target = self.location(&[Frame { symbol, position: Position::default() }]);
            let call = self.location(frames);
            self.sample(&[target, call], 0, calls);
        }
    }

    fn sample(&mut self, locations: &[u64], executions: u64, calls: u64) {
        let number = |number: u64| number.min(i64::MAX as u64);
        let mut sample = Message::default();
        sample.numbers(1, locations);
        sample.numbers(2, &[number(executions), number(calls)]);
        self.out.bytes(2, &sample.bytes);
    }

    fn location(&mut self, frames: &[Frame]) -> u64 {
        if let Some(&id) = self.locations.get(frames) {
            return id;
        }
        let id = self.locations.len() as u64 + 1;
        self.locations.insert(frames.to_vec(), id);
        let mut location = Message::default();
        location.number(1, id);
        location.number(2, self.mapping);
        for &frame in frames.iter().rev() {
            let mut line = Message::default();
            line.number(1, self.function(frame.symbol));
            line.number(2, self.profile.symbols.line(frame).max(0) as u64);
            location.bytes(4, &line.bytes);
        }
        self.out.bytes(4, &location.bytes);
        id
    }

    fn function(&mut self, symbol: SymbolId) -> u64 {
        if let Some(&id) = self.functions.get(&symbol) {
            return id;
        }
        let id = self.functions.len() as u64 + 1;
        self.functions.insert(symbol, id);
        let symbols = &self.profile.symbols;
        let name = symbols.name(symbol);
        let mut function = Message::default();
        function.number(1, id);
        function.number(2, self.strings.index(&visible(&(self.name_of)(name))));
        function.number(3, self.strings.index(&visible(&String::from_utf8_lossy(name))));
        function.number(4, self.strings.index(&path(symbols, symbol)));
        function.number(5, symbols.declaration_line(symbol).unwrap_or(0).into());
        self.out.bytes(5, &function.bytes);
        id
    }

    fn finish(mut self) -> Vec<u8> {
        let shown = self.strings.index("executions");
        self.out.number(14, shown);
        for text in &self.strings.all {
            self.out.bytes(6, text.as_bytes());
        }
        self.out.bytes
    }
}

/// A gzip file: magic, deflate, no name or time, made anywhere; then the data, its CRC-32 and its length.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    const LEVEL: u8 = 6;
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    file.extend(miniz_oxide::deflate::compress_to_vec(bytes, LEVEL));
    file.extend(crc32fast::hash(bytes).to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file
}
