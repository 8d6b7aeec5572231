//! A linked program or library as it lies in memory when it runs.

use alloc::string::String;
use std::collections::BTreeMap;
use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::{HashMap, HashSet};
use object::read::{Object, ObjectSection, ObjectSymbol, RelocationFlags};
use object::{Architecture, SectionFlags, SectionKind, elf};

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
    /// Its name.
    pub name: String,
}

impl<'d> Image<'d> {
    /// Lays a file out as it will be in memory.
    pub fn new(file: &object::File<'d>) -> Result<Self, object::Error> {
        let mut image = Self {
            architecture: file.architecture(),
            sections: Vec::new(),
            words: HashMap::new(),
            thread_descriptors: HashSet::new(),
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
                _ => continue,
            };
            if r_type == relative {
                image.words.insert(address, relocation.addend() as u64);
            } else if r_type == descriptor {
                image.thread_descriptors.insert(address);
            }
        }
        Ok(image)
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
        Some(u32::from_le_bytes(*section.get(offset..)?.first_chunk()?))
    }

    /// The 64-bit word at an address.
    pub fn word(&self, address: u64) -> Option<u64> {
        let in_file = || {
            let (section, offset) = self.place(address)?;
            Some(u64::from_le_bytes(*section.get(offset..)?.first_chunk()?))
        };
        self.words.get(&address).copied().or_else(in_file)
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
pub fn functions(file: &object::File<'_>) -> BTreeMap<u64, Symbol> {
    let symbols = file.symbols().filter(|symbol| {
        symbol.kind() == object::SymbolKind::Text && symbol.is_definition() && symbol.size() > 0
    });
    let symbols = symbols.filter_map(|symbol| {
        let (address, name) = (symbol.address(), symbol.name().ok()?.to_owned());
        Some((address, Symbol { address, end: address.checked_add(symbol.size())?, name }))
    });
    let mut functions: BTreeMap<u64, Symbol> = symbols.collect();
    let mut next = u64::MAX;
    for function in functions.values_mut().rev() {
        function.end = function.end.min(next);
        next = function.address;
    }
    functions
}
