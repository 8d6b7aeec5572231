//! Encodes messages of Protocol Buffers. `encode` knows the fields of a profile.

use crate::formats::leb128;
use alloc::vec::Vec;

/// The bytes of a message.
#[derive(Default)]
pub struct Message {
    /// The fields so far.
    pub bytes: Vec<u8>,
}

const VARINT: u64 = 0;
const LENGTH: u64 = 2;

impl Message {
    /// Adds a number, unless it is 0, the default.
    pub fn number(&mut self, field: u64, number: u64) {
        if number != 0 {
            self.varint(field << 3 | VARINT);
            self.varint(number);
        }
    }

    /// Adds a message or string.
    pub fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | LENGTH);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds numbers, packed.
    pub fn numbers(&mut self, field: u64, numbers: &[u64]) {
        let mut packed = Self::default();
        numbers.iter().for_each(|&number| packed.varint(number));
        self.bytes(field, &packed.bytes);
    }

    fn varint(&mut self, number: u64) {
        leb128::write(&mut self.bytes, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_as_the_encoding_guide_has_them() {
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        message.numbers(6, &[3, 270, 86942]);
        message.number(9, 0);
        let expected = b"\x08\x96\x01\x12\x07testing\x32\x06\x03\x8e\x02\x9e\xa7\x05";
        assert_eq!(message.bytes, expected);
    }
}
