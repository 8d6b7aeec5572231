//! Damaged sample profiles of LLVM: every prefix, every flipped bit, and claims of large sizes. The readers do not
//! panic, do not hang, and never need more memory than [`MOST_MEMORY`].

use countersink::formats::llvm_sample::check::Defect;
use countersink::formats::llvm_sample::encode::{Options, encode};
use countersink::formats::{llvm_sample, llvm_sample_text};
use countersink::profile::DEEPEST;
use countersink::samples::Samples;
use countersink::samples::layout::Layout;

use crate::{alone, limited};

/// Memory limit of the readers: twice the size that a small compressed section may claim, and more.
const MOST_MEMORY: usize = 48 << 20;

const NESTED: &str = "\
main:1069:1
 1: 1
 3.2: 20 f:12 g:8
 4: h:1048
  1: 1048
  2: i:3
   1: 3
   !CFGChecksum: 5
  !CFGChecksum: 563088904013236
 !CFGChecksum: 563022570642068
f:12:12
 1: 12
 !CFGChecksum: 0
";

const CONTEXTS: &str = "\
[main:3 @ f:1.2 @ g]:14:11
 1: 6
 3: 8 h:5
 !Attributes: 2
[main]:22:1
 2: 18 f:7
 !Attributes: 3
";

fn samples(text: &[u8]) -> Samples {
    llvm_sample_text::decode::decode(text).unwrap().samples
}

/// Reads a file in every way, and writes its profile in every way. Returns whether a reader reports a defect.
fn read(bytes: &[u8], is_text: bool) -> bool {
    let _ = llvm_sample::lookup::function(bytes, b"main");
    let (samples, complains) = if is_text {
        let Ok(decoded) = llvm_sample_text::decode::decode(bytes) else { return true };
        (decoded.samples, !decoded.findings.is_empty())
    } else {
        let Ok(decoded) = llvm_sample::decode::decode(bytes) else { return true };
        (decoded.samples, !decoded.findings.is_empty())
    };
    for layout in [Layout::Split, Layout::Nested, Layout::Flat] {
        let mut other = samples.clone();
        other.lay_out(layout).unwrap();
        let _ = encode(&other, Options::EXTENSIBLE);
        let _ = llvm_sample_text::encode::encode(&other);
    }
    samples.into_listing().unwrap();
    complains
}

/// A compact binary that `llvm-profdata` 13 wrote, which nothing else here writes.
const COMPACT: &str = "82e4d0b1f4c994a85367563209040210904e0000a08d063201c09a0c3201e0a712320180b5183201a0c21e3201c0cf241402 \
    e0dc2a140280ea301402a0f7360903f0fd390704b0b63c0704d8fc3c0704dc833d0704b6843d0704bf843d070403b7eaf6c8 \
    a1a9dd89e401acfbe2d8cdc9b0fc5cfaabb7bcee86d9cadb01a9000000000000000502640201003200030207020005010201 \
    020001140101001400000901090101000900000202850101a001";

#[test]
fn a_compact_binary() {
    let _alone = alone();
    let digits: Vec<u8> = COMPACT.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let mut bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
    let samples = llvm_sample::decode::decode(&bytes).unwrap().samples;
    assert_eq!(samples.functions.values().map(|body| body.total).sum::<u64>(), 109);
    assert_eq!(llvm_sample::lookup::function(&bytes, b"main").unwrap().functions.len(), 1);
    limited(MOST_MEMORY, || {
        assert!(!read(&bytes, false));
        assert!((0..bytes.len()).all(|length| read(&bytes[..length], false)));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            read(&bytes, false);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    });
}

#[test]
#[ignore = "slow"]
fn prefixes_and_flipped_bits() {
    let _alone = alone();
    let extensible = Options::EXTENSIBLE;
    for text in [NESTED, CONTEXTS] {
        let ours = samples(text.as_bytes());
        let forms = [
            extensible,
            Options { md5: true, split: true, ..extensible },
            Options { compressed: true, ..extensible },
            Options::BINARY,
        ];
        let files = forms.iter().filter_map(|&form| encode(&ours, form).ok());
        for mut bytes in files.chain([text.as_bytes().to_vec()]) {
            let is_text = bytes == text.as_bytes();
            limited(MOST_MEMORY, || {
                assert!(!read(&bytes, is_text));
                for length in 0..bytes.len() {
                    let told = read(&bytes[..length], is_text);
                    // A text may end at any line, or within a number.
                    assert!(told || is_text, "cut at {length}");
                }
                for bit in 0..bytes.len() * 8 {
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    read(&bytes, is_text);
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            });
            println!("{} bytes", bytes.len());
        }
    }
}

/// The reader checks a claimed size before it reserves memory.
#[test]
fn claims() {
    let _alone = alone();
    let options = Options { compressed: true, ..Options::EXTENSIBLE };
    let mut file = encode(&samples(NESTED.as_bytes()), options).unwrap();
    let sections = llvm_sample::open::sections(&file).unwrap();
    let summary = sections[0].offset as usize;
    // The size of the summary becomes 2^40.
    let claim = [0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
    file[summary..summary + claim.len()].copy_from_slice(&claim);
    let defect = limited(MOST_MEMORY, || llvm_sample::decode::decode(&file).unwrap_err().defect);
    assert!(matches!(defect, Defect::LargeSection { found: 0x100_0000_0000, .. }), "{defect}");
}

/// The readers refuse nesting deeper than `DEEPEST`, and no other.
#[test]
#[ignore = "slow"]
fn deep_nesting() {
    let _alone = alone();
    for (levels, is_read) in [(DEEPEST, true), (DEEPEST + 1, false)] {
        let mut text = "f:1:1\n".to_owned();
        (1..=levels).for_each(|level| text += &format!("{:level$}1: f:1\n", ""));
        text += &format!("{:1$}1: 1\n", "", levels + 1);
        let decoded = llvm_sample_text::decode::decode(text.as_bytes());
        assert_eq!(decoded.is_ok(), is_read);
        let Ok(decoded) = decoded else { continue };
        let file = encode(&decoded.samples, Options::EXTENSIBLE).unwrap();
        assert!(llvm_sample::decode::decode(&file).is_ok());
        assert!(!read(text.as_bytes(), true));
        // Sums are as deep. These discriminators are the same one in 16 bits.
        let other = text.replace(" 1:", " 1.65536:").replace("f:1:1\n", "");
        assert!(read(format!("{text}{other}{text}").as_bytes(), true));
    }
}
