//! Every prefix and every single-bit flip of a real program's profile, in all formats: no panic, no
//! hang, and never more memory than is stated.

mod harness;

use std::alloc::System;

use cap::Cap;
use countersink::formats::{afdo_v1_v3, afdo_v4, afdo_v4_text};
use harness::Workshop;

/// Of all that is read here, and what the test itself needs: less than a file of these few kilobytes
/// may expand to in strings alone, 128 times its size and 16 MiB.
const MOST_MEMORY: usize = 48 << 20;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Reads a file in every way; whether strict reading has something to say.
fn read(format: &str, bytes: &[u8]) -> bool {
    match format {
        "v4" | "v4-compact" => {
            let _ = afdo_v4::part::decode(bytes, |_| true, |_| true);
            afdo_v4::decode::decode_all(bytes).map_or(true, |decoded| !decoded.findings.is_empty())
        }
        "v4-text" => afdo_v4_text::decode::decode(bytes)
            .map_or(true, |decoded| decoded.summary != decoded.profile.summary()),
        _ => afdo_v1_v3::decode::decode(bytes).map_or(true, |decoded| !decoded.findings.is_empty()),
    }
}

#[test]
fn prefixes_and_flipped_bits() {
    let shop = Workshop::new();
    shop.program("promoted.c");
    let object = shop.compile("promoted.c", &[]);
    shop.link(&[&object], "prog", &[]);
    shop.run("prog", &[]);
    for format in ["v4", "v4-compact", "v4-text", "v3", "v2", "v1", "v407"] {
        shop.tool_output(&["convert", "prog.csraw", "--to", format, "-o", "profile"]);
        let mut bytes = shop.read("profile");
        MEMORY.set_limit(MOST_MEMORY).unwrap();
        assert!(!read(format, &bytes));
        for length in 0..bytes.len() {
            let told = read(format, &bytes[..length]);
            // Of a text the last new line may be missing, and nothing at all is one.
            let is_whole = format == "v4-text" && (length == 0 || bytes[length..] == *b"\n");
            assert!(told || is_whole, "{format} cut at {length}");
        }
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            read(format, &bytes);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        MEMORY.set_limit(usize::MAX).unwrap();
        println!("{format}: {} bytes", bytes.len());
    }
}
