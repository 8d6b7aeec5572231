//! Thirty tests of firmware that run on the board, and the coverage that they leave.
//!
//! ```sh
//! rustup target add thumbv7m-none-eabi
//! cargo run                                   # here: builds, and QEMU plays the board
//! countersink convert firmware.csraw --binary target/thumbv7m-none-eabi/debug/firmware --to lcov -o firmware.info
//! ```
//!
//! `cargo run --target riscv32imac-unknown-none-elf` and its like take another board, see `board/mod.rs`. Each test
//! stands in a table, as there is no harness of `cargo test` without std.
#![cfg_attr(target_os = "none", no_std, no_main)]

mod board;
mod frames;

use frames::{Broken, LONGEST, Message, checksum, decode, encode};

#[cfg_attr(target_arch = "arm", cortex_m_rt::entry)]
#[cfg_attr(any(target_arch = "riscv32", target_arch = "riscv64"), riscv_rt::entry)]
#[cfg_attr(
    all(target_os = "none", any(target_arch = "aarch64", target_arch = "x86_64")),
    unsafe(no_mangle)
)]
fn main() -> ! {
    for (name, test) in TESTS {
        board::print(format_args!("test {name}"));
        test();
    }
    board::print(format_args!("{} tests passed", TESTS.len()));
    board::write_dump();
    board::exit()
}

/// The frame of a message, and the message of the frame.
fn there_and_back(bytes: &[u8]) {
    let message = Message::new(bytes).unwrap();
    let mut frame = [0xff; LONGEST + 3];
    let length = encode(&message, &mut frame).unwrap();
    let (end, frame) = frame[..length].split_last().unwrap();
    assert_eq!(*end, 0);
    assert!(!frame.contains(&0));
    assert_eq!(decode(frame), Ok(message));
}

/// A frame of three bytes with one byte changed.
fn spoilt(place: usize, byte: u8) -> Result<Message, Broken> {
    let mut frame = [0; 8];
    let length = encode(&Message::new(b"abc").unwrap(), &mut frame).unwrap();
    frame[place] = byte;
    decode(&frame[..length - 1])
}

type Test = (&'static str, fn());

static TESTS: [Test; 30] = [
    ("checksum_of_nothing", || assert_eq!(checksum(b""), 0)),
    ("checksum_of_zero", || assert_eq!(checksum(&[0]), 0)),
    ("checksum_of_one", || assert_eq!(checksum(&[1]), 7)),
    ("checksum_as_published", || assert_eq!(checksum(b"123456789"), 0xf4)),
    ("checksum_differs", || assert_ne!(checksum(b"ab"), checksum(b"ba"))),
    ("empty_message", || there_and_back(b"")),
    ("one_byte", || there_and_back(b"x")),
    ("one_zero", || there_and_back(&[0])),
    ("two_zeros", || there_and_back(&[0, 0])),
    ("zero_first", || there_and_back(&[0, 1, 2])),
    ("zero_last", || there_and_back(&[1, 2, 0])),
    ("zeros_between", || there_and_back(&[1, 0, 2, 0, 3])),
    ("text", || there_and_back(b"all is well")),
    ("all_ones", || there_and_back(&[0xff; 16])),
    ("longest_message", || there_and_back(&[7; LONGEST])),
    ("longest_zeros", || there_and_back(&[0; LONGEST])),
    ("counting_up", || there_and_back(&core::array::from_fn::<u8, 60, _>(|i| i as u8))),
    ("message_too_long", || assert_eq!(Message::new(&[1; LONGEST + 1]), None)),
    ("bytes_of_a_message", || assert_eq!(Message::new(b"ab").unwrap().bytes(), b"ab")),
    ("no_room_at_all", || assert_eq!(encode(&Message::new(b"a").unwrap(), &mut []), None)),
    ("no_room_for_the_end", || assert_eq!(encode(&Message::new(b"a").unwrap(), &mut [0; 3]), None)),
    ("just_enough_room", || assert_eq!(encode(&Message::new(b"a").unwrap(), &mut [0; 4]), Some(4))),
    ("nothing_received", || assert_eq!(decode(b""), Err(Broken::Short))),
    ("one_byte_received", || assert_eq!(decode(&[1]), Err(Broken::Short))),
    ("frame_too_long", || assert_eq!(decode(&[1; LONGEST + 3]), Err(Broken::Long))),
    ("spoilt_text", || assert_eq!(spoilt(1, b'x'), Err(Broken::Checksum))),
    ("spoilt_checksum", || assert_eq!(spoilt(4, 1), Err(Broken::Checksum))),
    ("distance_too_long", || assert_eq!(spoilt(0, 200), Err(Broken::Distance))),
    ("distance_of_zero", || assert_eq!(spoilt(0, 0), Err(Broken::Distance))),
    ("sound_after_all", || assert_eq!(spoilt(1, b'a').unwrap().bytes(), b"abc")),
];
