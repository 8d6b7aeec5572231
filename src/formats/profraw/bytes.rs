//! Numbers in the byte order of a machine, one after another.

use alloc::vec::Vec;

use super::Machine;

/// Bytes being written.
pub struct Bytes {
    machine: Machine,
    bytes: Vec<u8>,
}

impl Bytes {
    pub const fn new(machine: Machine) -> Self {
        Self { machine, bytes: Vec::new() }
    }

    pub const fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub const fn as_slice(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    pub fn into_vec(self) -> Vec<u8> {
        self.bytes
    }

    pub fn all(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn u8(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub fn u16(&mut self, number: u16) {
        let big_endian = self.machine.big_endian;
        self.all(&if big_endian { number.to_be_bytes() } else { number.to_le_bytes() });
    }

    pub fn u32(&mut self, number: u32) {
        let big_endian = self.machine.big_endian;
        self.all(&if big_endian { number.to_be_bytes() } else { number.to_le_bytes() });
    }

    pub fn u64(&mut self, number: u64) {
        let big_endian = self.machine.big_endian;
        self.all(&if big_endian { number.to_be_bytes() } else { number.to_le_bytes() });
    }

    /// The low bytes of an address, as many as a pointer has.
    pub fn pointer(&mut self, address: u64) {
        match self.machine.pointer {
            8 => self.u64(address),
            _ => self.u32(address as u32),
        }
    }

    /// Zeros up to a multiple of 8.
    pub fn pad(&mut self) {
        self.align(8);
    }

    /// Zeros up to a multiple of `size`.
    pub fn align(&mut self, size: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(size), 0);
    }

    /// How many zeros [`Bytes::pad`] would write.
    pub const fn padding(&self) -> u64 {
        self.len().next_multiple_of(8) - self.len()
    }
}
