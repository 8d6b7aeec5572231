//! LLVM's sample profiles in bytes: the forms "binary" and "extensible binary" that `llvm-profdata merge --sample`
//! writes and `-fprofile-sample-use` reads. [`llvm_sample_text`](super::llvm_sample_text) has the text form,
//! [`samples`](crate::samples) the model.
//!
//! Numbers are ULEB128; a number with a size in the table is little-endian. A name is its index in
//! the table of names, from 0. Source of the layouts: experiments with LLVM 14, 16, 19 and 22, which write the same.
//!
//! **Binary**:
//!
//! | field | contents |
//! |---|---|
//! | magic | 0x5350524f463432ff, version 103 |
//! | summary, names | as below |
//! | functions | to the end of the file |
//!
//! **Compact binary**, of LLVM 5 to 14 (`--compbinary`), which is only read:
//!
//! | field | contents |
//! |---|---|
//! | magic | 0x5350524f46343202, version 103 |
//! | summary, names | as below, the names as MD5 |
//! | offset | of the table behind the functions, from the start of the file, 8 bytes |
//! | functions | as below |
//! | offsets of functions | number; for each function its name, and its offset from the start of the file |
//!
//! **Extensible binary** ([`table`]):
//!
//! | offset | field |
//! |---|---|
//! | 0 | magic, 0x5350524f46343204: nine bytes |
//! | 9 | version 103: one byte |
//! | 10 | number of sections, 8 bytes |
//! | 18 | for each section, 8 bytes each: kind, flags, offset from the start of the file, size |
//!
//! | kind | section | its flags, from bit 32 |
//! |---|---|---|
//! | 1 | summary | 0 partial, 1 contexts, 2 discriminators of code generation, 4 pre-inlined, 5 types of virtual tables |
//! | 2 | names | 0 MD5 instead of names, 1 MD5 of 8 bytes, 2 some names are unique names of statics; never set with MD5 |
//! | 6 | contexts | |
//! | 4 | offsets of functions | 0 sorted by context |
//! | 32 | functions | |
//! | 3 | list of symbols | |
//! | 5 | metadata of functions | 0 checksums, 1 attributes |
//!
//! Flags of any section: bit 0 compressed by zlib, bit 1 flat: its functions have no inlined copies. A compressed
//! section holds the size of its contents, the size of the compressed bytes, and these bytes. The table lists the
//! sections in this order; the bytes of the offsets follow those of the list of symbols. The split layout has no
//! section of contexts. It has second sections of offsets and functions for the flat functions, and the bytes of
//! functions precede those of their offsets.
//!
//! **Sections**:
//!
//! | section | contents |
//! |---|---|
//! | summary | sum of counts, largest count, largest head count, number of counts, number of functions, number of cutoffs, 16; for each cutoff: millionths, smallest of the largest counts that make up this share, number of these counts |
//! | names | number; each name with a NUL behind it, or the name's MD5, see [`name_number`](crate::samples::name_number) |
//! | contexts | number; for each the number of frames, for each frame name, line, discriminator |
//! | offsets | number; for each function its name or context, and its offset in the section of functions |
//! | functions | for each: head count, name or context, body |
//! | body | total, number of records; for each: line, discriminator, count, number of targets, for each target name, calls; number of inlined copies; for each: line, discriminator, name, body |
//! | list of symbols | names, each with a NUL behind it |
//! | metadata | for each function: name or context, checksum if the flag is set, attributes if the flag is set; without contexts the number of inlined copies, and for each: line, discriminator, and the same |
//!
//! LLVM 13 has no section of contexts: names of functions are contexts as text, `[main:3 @ f]`.
//!
//! If bit 5 of the summary's flags is set, each body ends with types of virtual tables: the number of positions, and
//! for each position line, discriminator, number of types, and for each type name, count. The reader skips them.
//!
//! The canonical output is that of `llvm-profdata` 22, with two exceptions. LLVM's order of metadata is that of a hash
//! table, ours is that of the functions. And two implementations of zlib do not write the same bytes.

pub mod check;
pub mod decode;
pub mod encode;
pub mod lookup;
mod names;
pub mod open;
mod read;
pub mod rules;
pub mod table;
mod words;
mod write;

/// The magic without its low byte, which is the [`Form`].
const MAGIC: u64 = 0x5350_524f_4634_3200;

/// The version of both forms.
pub const VERSION: u64 = 103;

/// The forms of a file, by the low byte of the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One stream of numbers. A reader must read it from start to end.
    Binary = 0xff,
    /// The same with MD5 for names.
    Compact = 2,
    /// Sections. A reader can read single functions.
    Extensible = 4,
}

impl Form {
    const ALL: [Self; 3] = [Self::Binary, Self::Compact, Self::Extensible];
}

/// The bytes of a magic, as ULEB128.
const fn magic(form: Form) -> [u8; 9] {
    let number = MAGIC | form as u64;
    let mut bytes = [0; 9];
    let mut at = 0;
    while at < 9 {
        bytes[at] = (number >> (7 * at)) as u8 & 0x7f | 0x80;
        at += 1;
    }
    bytes[8] &= 0x7f;
    bytes
}

/// Whether the first bytes of a file are those of such a profile.
pub fn is_sample_profile(bytes: &[u8]) -> bool {
    Form::ALL.into_iter().map(magic).any(|magic| {
        let length = bytes.len().min(magic.len());
        length > 1 && bytes[..length] == magic[..length]
    })
}

/// The form of a file for which [`is_sample_profile`] holds.
pub fn form(bytes: &[u8]) -> Form {
    let is_it = |form: &Form| bytes.first() == magic(*form).first();
    Form::ALL.into_iter().find(is_it).unwrap_or(Form::Extensible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magics() {
        assert_eq!(magic(Form::Extensible), [0x84, 0xe4, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53]);
        assert!(is_sample_profile(&magic(Form::Binary)));
        assert!(!is_sample_profile(&[0x84]));
    }
}
