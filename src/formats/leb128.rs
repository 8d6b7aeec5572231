//! Unsigned numbers in LEB128, as several formats have them.
//!
//! | bits of a byte | content |
//! |---|---|
//! | 0 to 6 | the next 7 bits of the number, the least significant ones first |
//! | 7 | 1 in all bytes but the last |

use alloc::vec::Vec;

/// Reads a number from bytes that come one by one, or gives none for a number of more than 64 bits.
pub fn read<E>(mut next: impl FnMut() -> Result<u8, E>) -> Result<Option<u64>, E> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Ok(None);
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// Appends a number, in as few bytes as possible.
pub fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Result<Option<u64>, ()> {
        super::read(|| bytes.split_off_first().copied().ok_or(()))
    }

    #[test]
    fn numbers_of_all_lengths() {
        for bits in 0..64 {
            for number in [1 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let mut bytes = Vec::new();
                write(&mut bytes, number);
                assert_eq!(bytes.len(), (70 - number.leading_zeros() as usize).max(7) / 7);
                assert_eq!(read(&bytes), Ok(Some(number)));
                assert_eq!(read(&bytes[..bytes.len() - 1]), Err(()));
            }
        }
    }

    #[test]
    fn numbers_of_more_than_64_bits() {
        assert_eq!(read(&[[0xff; 9].as_slice(), &[1]].concat()), Ok(Some(u64::MAX)));
        assert_eq!(read(&[[0xff; 9].as_slice(), &[2]].concat()), Ok(None));
        assert_eq!(read(&[0x80; 11]), Ok(None));
    }
}
