//! Where a relocation writes, and what.

/// Bytes of a section, and the addresses that a relocation is about.
pub struct At<'b> {
    /// The bytes from the relocation's place on.
    pub bytes: &'b mut [u8],
    /// Their address.
    pub place: u64,
    /// The symbol's address, or `None` if it is defined elsewhere.
    pub symbol: Option<u64>,
    /// What to add, unless it stands in the bytes.
    pub addend: Option<i64>,
}

/// Where the global offset table is taken to be. It has no entries.
pub const TABLE: u64 = 0x8_0000;

impl At<'_> {
    /// The symbol's address with the addend, which otherwise is this one.
    pub fn value(&self, in_place: i64) -> Option<u64> {
        Some(self.symbol?.wrapping_add_signed(self.addend.unwrap_or(in_place)))
    }

    /// The number that stands in the bytes.
    pub fn number(&self) -> i64 {
        i64::from(self.bits().unwrap_or(0) as i32)
    }

    /// The bits of an instruction of four bytes.
    pub fn bits(&self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.bytes.first_chunk()?))
    }

    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(())
    }

    /// Writes the bits under a mask into an instruction of four bytes.
    pub fn insert(&mut self, mask: u32, bits: u32) -> Option<()> {
        let before = self.bits()?;
        self.write(&(before & !mask | bits & mask).to_le_bytes())
    }
}
