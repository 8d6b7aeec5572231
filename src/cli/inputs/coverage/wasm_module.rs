//! The segments of a WebAssembly module's memory, by their names. Coverage also needs a module's custom sections,
//! which the object crate reads.
//!
//! A linker puts each section of the objects that is loaded into one data segment. The custom section `name` has the
//! names of segments, which linkers write unless they strip the module.
//!
//! ```text
//! data      segments 0, 1, 2, ...: bytes, and where they are loaded
//! name      subsection 9: (4, "__llvm_prf_names"), ...
//! ```

use std::prelude::v1::*;

use wasmparser::{
    BinaryReaderError, CustomSectionReader, KnownCustom, Name, Naming, Parser, Payload,
};

/// What every module begins with.
pub const MAGIC: &[u8] = b"\0asm";

/// The bytes of all segments with a name.
///
/// # Errors
///
/// A module that is damaged, with the offset.
pub fn segments<'m>(module: &'m [u8], wanted: &str) -> Result<Vec<&'m [u8]>, BinaryReaderError> {
    let (mut segments, mut namings) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::DataSection(section) => {
                for segment in section {
                    segments.push(segment?.data);
                }
            }
            Payload::CustomSection(section) => namings.extend(segment_names(&section)?),
            _ => {}
        }
    }
    let wanted = namings.iter().filter(|naming| naming.name == wanted);
    Ok(wanted.filter_map(|naming| segments.get(naming.index as usize).copied()).collect())
}

/// The names that a custom section gives segments.
fn segment_names<'m>(
    section: &CustomSectionReader<'m>,
) -> Result<Vec<Naming<'m>>, BinaryReaderError> {
    let mut namings = Vec::new();
    let KnownCustom::Name(names) = section.as_known() else { return Ok(namings) };
    for names in names {
        if let Name::Data(names) = names? {
            namings.extend(names.into_iter().collect::<Result<Vec<_>, _>>()?);
        }
    }
    Ok(namings)
}
