//! A linked program or library as it lies in memory when it runs.

use alloc::string::String;
use std::collections::BTreeMap;
use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::{HashMap, HashSet};
use object::endian::Endian as _;
use object::read::{Object, ObjectSection, ObjectSymbol, RelocationFlags};
use object::{Architecture, Endianness, SectionFlags, SectionKind, SymbolKind, elf};

/// An image.
pub struct Image<'d> {
    /// The architecture of its instructions.
    pub architecture: Architecture,
    /// By address.
    sections: Vec<Section<'d>>,
    /// Words that the dynamic linker writes.
    words: HashMap<u64, u64>,
    /// Addresses that the dynamic linker fills in for code that asks for a thread's variable.
    thread_descriptors: HashSet<u64>,
    /// Bytes of an address: 4 or 8.
    pub word: u8,
    order: Endianness,
    /// From each of these addresses on, what the bytes of code are.
    marks: BTreeMap<u64, Mark>,
    /// The function that 32-bit ARM code asks for the thread's memory. It changes no other register than the result's.
    pub asks_for_thread: Option<u64>,
    /// Where RISC-V code has its register `gp`.
    pub global_pointer: Option<u64>,
}

/// The name of that function.
pub const ASKS_FOR_THREAD: &[u8] = b"__aeabi_read_tp";

/// What bytes in a section of code are. The assembler marks that with symbols, if a section has several kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Instructions. Those of ARM have four bytes.
    Code,
    /// Instructions of ARM in two or four bytes.
    Thumb,
    /// Constants, or a table of jumps.
    Data,
}

struct Section<'d> {
    address: u64,
    data: &'d [u8],
    is_code: bool,
}

/// A function by its symbol.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Where it starts.
    pub address: u64,
    /// Where it ends.
    pub end: u64,
    /// Its names. Aliases and variants of a constructor have one address.
    pub names: Vec<String>,
}

impl<'d> Image<'d> {
    /// Lays a file out as it will be in memory.
    pub fn new(file: &object::File<'d>) -> Result<Self, object::Error> {
        let mut image = Self {
            architecture: file.architecture(),
            sections: Vec::new(),
            words: HashMap::new(),
            thread_descriptors: HashSet::new(),
            word: if file.is_64() { 8 } else { 4 },
            order: file.endianness(),
            marks: BTreeMap::new(),
            asks_for_thread: None,
            global_pointer: None,
        };
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if sh_flags.contains(elf::SHF_ALLOC) && section.kind() != SectionKind::Tls {
                let is_code = section.kind() == SectionKind::Text;
                let (address, data) = (section.address(), section.data()?);
                image.sections.push(Section { address, data, is_code });
            }
        }
        image.sections.sort_by_key(|section| section.address);
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let (relative, descriptor) = match image.architecture {
                Architecture::X86_64 => (elf::R_X86_64_RELATIVE, elf::R_X86_64_TLSDESC),
                Architecture::Aarch64 => (elf::R_AARCH64_RELATIVE, elf::R_AARCH64_TLSDESC),
                Architecture::I386 => (elf::R_386_RELATIVE, elf::R_386_TLS_DESC),
                Architecture::Arm => (elf::R_ARM_RELATIVE, elf::R_ARM_TLS_DESC),
                Architecture::Riscv32 | Architecture::Riscv64 => {
                    (elf::R_RISCV_RELATIVE, elf::R_RISCV_TLSDESC)
                }
                _ => continue,
            };
            // Without an addend of its own, the relocation leaves the word in the file as it is.
            if r_type == relative && !relocation.has_implicit_addend() {
                image.words.insert(address, relocation.addend() as u64);
            } else if r_type == descriptor {
                image.thread_descriptors.insert(address);
            }
        }
        Ok(image)
    }

    /// An image of x86-64 without sections.
    #[cfg(test)]
    pub fn empty() -> Self {
        Self {
            architecture: Architecture::X86_64,
            sections: Vec::new(),
            words: HashMap::new(),
            thread_descriptors: HashSet::new(),
            word: 8,
            order: Endianness::Little,
            marks: BTreeMap::new(),
            asks_for_thread: None,
            global_pointer: None,
        }
    }

    /// Learns from a symbol table what is code.
    pub fn mark(&mut self, file: &object::File<'_>) {
        let is_arm = self.architecture == Architecture::Arm;
        // `is_definition` leaves out marks and absolute symbols, such as the global pointer.
        for symbol in file.symbols().filter(|symbol| !symbol.is_undefined()) {
            let (address, Ok(name)) = (symbol.address(), symbol.name_bytes()) else { continue };
            let mark = match name {
                [b'$', b'a' | b'x', ..] => Mark::Code,
                [b'$', b't', ..] => Mark::Thumb,
                [b'$', b'd', ..] => Mark::Data,
                ASKS_FOR_THREAD => {
                    self.asks_for_thread = Some(self.start(address));
                    if address & 1 == 1 { Mark::Thumb } else { Mark::Code }
                }
                b"__global_pointer$" => {
                    self.global_pointer = Some(address);
                    continue;
                }
                _ if is_arm && symbol.kind() == SymbolKind::Text => {
                    let mark = if address & 1 == 1 { Mark::Thumb } else { Mark::Code };
                    self.marks.entry(self.start(address)).or_insert(mark);
                    continue;
                }
                _ => continue,
            };
            if self.is_code(address) {
                self.marks.insert(address, mark);
            }
        }
    }

    /// Where a function starts whose address is this. An odd address means Thumb.
    pub fn start(&self, address: u64) -> u64 {
        if self.architecture == Architecture::Arm { address & !1 } else { address }
    }

    /// Whether the instruction at an address is one of Thumb.
    pub fn is_thumb(&self, address: u64) -> bool {
        self.marked(address) == Some(Mark::Thumb)
    }

    fn marked(&self, address: u64) -> Option<Mark> {
        self.marks.range(..=address).next_back().map(|(_, &mark)| mark)
    }

    /// The next address from this one on that does not hold data.
    #[inline]
    pub fn next_code(&self, address: u64) -> u64 {
        if self.marks.is_empty() { address } else { self.next_marked_code(address) }
    }

    fn next_marked_code(&self, address: u64) -> u64 {
        if self.marked(address) != Some(Mark::Data) {
            return address;
        }
        let (Some((section, offset)), Some(after)) = (self.place(address), address.checked_add(1))
        else {
            return address;
        };
        let end = address.saturating_add((section.len() - offset) as u64);
        let mut behind = self.marks.range(after..end);
        behind.find(|(_, mark)| **mark != Mark::Data).map_or(end, |(&next, _)| next)
    }

    /// The section that an address is in, and the offset there.
    pub fn place(&self, address: u64) -> Option<(&'d [u8], usize)> {
        self.section(address).map(|(section, offset)| (section.data, offset))
    }

    fn section(&self, address: u64) -> Option<(&Section<'d>, usize)> {
        let behind = self.sections.partition_point(|section| section.address <= address);
        let section = self.sections.get(behind.checked_sub(1)?)?;
        let offset = usize::try_from(address - section.address).ok()?;
        (offset < section.data.len()).then_some((section, offset))
    }

    /// Where code is.
    pub fn code(&self) -> Vec<Range<u64>> {
        let code = self.sections.iter().filter(|section| section.is_code);
        let end = |section: &Section<'_>| section.address.saturating_add(section.data.len() as u64);
        code.map(|section| section.address..end(section)).collect()
    }

    /// Whether an address lies in code.
    pub fn is_code(&self, address: u64) -> bool {
        self.section(address).is_some_and(|(section, _)| section.is_code)
    }

    /// The 32-bit word that the file has at an address.
    pub fn half_word(&self, address: u64) -> Option<u32> {
        let (section, offset) = self.place(address)?;
        self.number(section.get(offset..)?)
    }

    /// The 32-bit number at the start of some bytes.
    pub fn number(&self, bytes: &[u8]) -> Option<u32> {
        Some(self.order.read_u32(*bytes.first_chunk()?))
    }

    /// The address that is stored at an address.
    pub fn word(&self, address: u64) -> Option<u64> {
        let in_file = || {
            let (section, offset) = self.place(address)?;
            self.whole(section.get(offset..)?)
        };
        self.words.get(&address).copied().or_else(in_file)
    }

    /// The address at the start of some bytes.
    fn whole(&self, bytes: &[u8]) -> Option<u64> {
        match self.word {
            4 => self.number(bytes).map(u64::from),
            _ => Some(self.order.read_u64(*bytes.first_chunk()?)),
        }
    }

    /// Words like this in data, with their addresses, if they are aligned.
    pub fn words_with(&self, is_wanted: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
        let step = usize::from(self.word);
        let mut found = Vec::new();
        for (address, data) in self.data() {
            let unaligned = (address.wrapping_neg() % step as u64) as usize;
            let words = data.get(unaligned..).unwrap_or_default().chunks_exact(step);
            let first = address.wrapping_add(unaligned as u64);
            let words = words.zip((0u64..).map(|number| first.wrapping_add(step as u64 * number)));
            let words = words.filter_map(|(bytes, address)| Some((address, self.whole(bytes)?)));
            found.extend(words.filter(|&(_, word)| is_wanted(word)));
        }
        // The dynamic linker writes over what is in the file.
        found.extend(
            self.words
                .iter()
                .map(|(&address, &word)| (address, word))
                .filter(|&(_, word)| is_wanted(word)),
        );
        found
    }

    /// Whether code that calls the address stored here asks for a thread's variable.
    pub fn is_thread_descriptor(&self, address: u64) -> bool {
        self.thread_descriptors.contains(&address)
    }

    /// Addresses and contents of everything but code.
    pub fn data(&self) -> impl Iterator<Item = (u64, &'d [u8])> {
        let data = self.sections.iter().filter(|section| !section.is_code);
        data.map(|section| (section.address, section.data))
    }
}

/// The functions that a symbol table names, by address. None reaches into the next one.
pub fn functions(image: &Image<'_>, file: &object::File<'_>) -> BTreeMap<u64, Symbol> {
    let symbols = file.symbols().filter(|symbol| {
        symbol.kind() == object::SymbolKind::Text && symbol.is_definition() && symbol.size() > 0
    });
    let mut functions = BTreeMap::<u64, Symbol>::new();
    for symbol in symbols {
        let address = image.start(symbol.address());
        let (Ok(name), Some(end)) = (symbol.name(), address.checked_add(symbol.size())) else {
            continue;
        };
        let new = || Symbol { address, end, names: Vec::new() };
        let function = functions.entry(address).or_insert_with(new);
        function.end = function.end.max(end);
        function.names.push(name.to_owned());
    }
    let mut next = u64::MAX;
    for function in functions.values_mut().rev() {
        function.end = function.end.min(next);
        next = function.address;
    }
    functions
}
