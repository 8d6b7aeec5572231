//! Frames on a serial line: the bytes of a message without zeros (COBS), a checksum, and a zero at the end.

/// Longest message.
pub const LONGEST: usize = 64;

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Shorter than a checksum.
    Short,
    /// Longer than any frame.
    Long,
    /// A distance leads behind the end.
    Distance,
    /// The checksum is of other bytes.
    Checksum,
}

/// A message of at most [`LONGEST`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Message {
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut message = Self { bytes: [0; LONGEST], length: bytes.len() };
        message.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(message)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// CRC-8 with the polynomial 0x07.
pub fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| (0..8).fold(sum ^ byte, |sum, _| step(sum)))
}

fn step(sum: u8) -> u8 {
    if sum & 0x80 != 0 { sum << 1 ^ 0x07 } else { sum << 1 }
}

/// Encodes a message; gives the frame's length, `None` if it does not fit.
pub fn encode(message: &Message, frame: &mut [u8]) -> Option<usize> {
    let sum = [checksum(message.bytes())];
    let (mut mark, mut used) = (0, 1);
    for &byte in message.bytes().iter().chain(&sum) {
        if byte == 0 {
            *frame.get_mut(mark)? = (used - mark) as u8;
            mark = used;
        } else {
            *frame.get_mut(used)? = byte;
        }
        used += 1;
    }
    *frame.get_mut(mark)? = (used - mark) as u8;
    *frame.get_mut(used)? = 0;
    Some(used + 1)
}

/// Decodes a frame without the zero at its end.
pub fn decode(frame: &[u8]) -> Result<Message, Broken> {
    if frame.len() < 2 {
        return Err(Broken::Short);
    }
    if frame.len() > LONGEST + 2 {
        return Err(Broken::Long);
    }
    let mut bytes = [0; LONGEST + 2];
    let (mut mark, mut length) = (0, 0);
    while mark < frame.len() {
        let distance = usize::from(frame[mark]);
        let Some(run) = frame.get(mark + 1..mark + distance) else {
            return Err(Broken::Distance);
        };
        bytes[length..length + run.len()].copy_from_slice(run);
        // The zero that the distance stands for. Behind the last run there is none.
        length += run.len() + 1;
        mark += distance;
    }
    let length = length - 2;
    if checksum(&bytes[..length]) != bytes[length] {
        return Err(Broken::Checksum);
    }
    Message::new(&bytes[..length]).ok_or(Broken::Long)
}
