//! String tables: tries with the shared beginnings of names as labels.

use alloc::vec;
use alloc::vec::Vec;

use super::check::{Defect, Finding, Tell};
use super::number::{Encoding, Input, Output};
use super::{HIGH, section};

/// Most children of a node.
const MOST_CHILDREN: usize = 127;
/// Longest label.
const LONGEST_LABEL: usize = u16::MAX as usize;
/// Deepest trie that is read (D10).
const DEEPEST: usize = 65536;
/// The strings of a file's tables may have this many bytes together, besides a number for each byte of the
/// file (D10).
const MOST_BYTES: usize = 16 << 20;
const MOST_EXPANSION: usize = 128;

/// Writes tables of names. The names of each table must be in bytewise order and differ from each other. A
/// name's number is its index.
///
/// A beginning is written once for all names that share it. If readers would then take the file for a bomb,
/// it is written once for every few names.
pub(super) fn encode_all(tables: &[Vec<&[u8]>], encoding: Encoding) -> Vec<Vec<u8>> {
    let encode_each = |run| -> (Vec<Vec<u8>>, usize) {
        let mut deepest = 0;
        let encode_one = |names: &Vec<&[u8]>| {
            let mut output = Output::new(encoding);
            output.kind(section::STRING_TABLE);
            deepest = encode(names, run, &mut output).max(deepest);
            output.bytes
        };
        (tables.iter().map(encode_one).collect(), deepest)
    };
    let (encoded, deepest) = encode_each(usize::MAX);
    let text: usize = tables.iter().flatten().map(|name| name.len()).sum();
    if deepest <= DEEPEST && text <= most_bytes(encoded.iter().map(Vec::len).sum()) {
        return encoded;
    }
    // The longest name of a run then stands there in full.
    encode_each(MOST_EXPANSION).0
}

/// Writes a table and gives its depth. Each run of this many names gets a branch of its own.
fn encode(names: &[&[u8]], run: usize, output: &mut Output) -> usize {
    output.u32(names.len() as u32);
    let (mut next_id, mut deepest) = (0, 0);
    let start = if names.len() > run { Branches::Runs(run) } else { Branches::Bytes };
    let mut nodes = vec![Node { names, depth: 0, level: 1, label: Label::Root, branches: start }];
    while let Some(mut node) = nodes.pop() {
        node.label(output);
        deepest = node.level.max(deepest);
        let has_end = node.names.first().is_some_and(|first| first.len() == node.depth);
        let ends = has_end && node.branches == Branches::Bytes;
        let mut children = node.children(usize::from(ends));
        if children.len() > MOST_CHILDREN {
            let kept: usize =
                children.drain(MOST_CHILDREN - 1..).map(|node| node.names.len()).sum();
            let (names, label) = (&node.names[node.names.len() - kept..], Label::Empty);
            children.push(Node { names, label, level: node.level + 1, ..node });
        }
        output.byte(if ends { HIGH } else { 0 } | children.len() as u8);
        if ends {
            output.u32(next_id);
            next_id += 1;
        }
        nodes.extend(children.into_iter().rev());
    }
    deepest
}

/// A node still to be written: names that share their first `depth` bytes.
#[derive(Clone, Copy)]
struct Node<'n> {
    names: &'n [&'n [u8]],
    depth: usize,
    /// Number of nodes from the root to this one.
    level: usize,
    label: Label,
    branches: Branches,
}

/// What stands before a node.
#[derive(Clone, Copy)]
enum Label {
    /// Nothing: it is the root.
    Root,
    /// What its names share from its depth on.
    Shared,
    /// An empty label: its children are those beyond another node's limit.
    Empty,
}

/// How the names of a node are split into children.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branches {
    /// By their next bytes.
    Bytes,
    /// By their places: this many consecutive names for each child.
    Runs(usize),
}

impl<'n> Node<'n> {
    /// Writes the label. The node's depth is then that behind the label.
    fn label(&mut self, output: &mut Output) {
        match self.label {
            Label::Root => {}
            Label::Empty => output.u16(0),
            Label::Shared => {
                let shared = shared(self.names, self.depth);
                self.level += label(shared, output);
                self.depth += shared.len();
            }
        }
    }

    /// The children of all names but the first `ended`.
    fn children(&self, ended: usize) -> Vec<Self> {
        let depth = self.depth;
        let child = |names| Self {
            names,
            label: Label::Shared,
            level: self.level + 1,
            branches: Branches::Bytes,
            ..*self
        };
        match self.branches {
            Branches::Bytes => {
                let names = self.names[ended..].chunk_by(|a, b| a[depth] == b[depth]);
                names.map(child).collect()
            }
            Branches::Runs(run) => self.names.chunks(run).map(child).collect(),
        }
    }
}

/// What sorted names share from `depth` on.
fn shared<'n>(names: &[&'n [u8]], depth: usize) -> &'n [u8] {
    let (first, last) = (&names[0][depth..], &names[names.len() - 1][depth..]);
    &first[..first.iter().zip(last).take_while(|(a, b)| a == b).count()]
}

/// Writes a label; gives the number of nodes within it.
fn label(text: &[u8], output: &mut Output) -> usize {
    let (first, rest) = text.split_at(text.len().min(LONGEST_LABEL));
    output.u16(first.len() as u16);
    output.bytes.extend_from_slice(first);
    let rest = rest.chunks(LONGEST_LABEL);
    let nodes = rest.len();
    for piece in rest {
        output.byte(1);
        output.u16(piece.len() as u16);
        output.bytes.extend_from_slice(piece);
    }
    nodes
}

/// The most bytes that all names of a file of this length may have together (D10).
pub const fn most_bytes(length: usize) -> usize {
    length.saturating_mul(MOST_EXPANSION).saturating_add(MOST_BYTES)
}

/// Reads a table; gives the strings by number. Takes their bytes off `bytes_left`.
pub(super) fn decode(
    input: &mut Input<'_>,
    bytes_left: &mut usize,
    tell: Tell<'_>,
) -> Result<Vec<Vec<u8>>, Finding> {
    let start = input.offset();
    let mut strings = Strings::new(input.clone())?;
    let mut found = vec![None; strings.number];
    let mut number = 0;
    while let Some((id, text)) = strings.next_or_tell(tell)? {
        let Some(left) = bytes_left.checked_sub(text.len()) else {
            return input.error(strings.node, Defect::Trie);
        };
        *bytes_left = left;
        let text = text.to_vec();
        match found.get_mut(id as usize) {
            Some(place @ None) => *place = Some(text),
            _ => return input.error(strings.node, Defect::StringId(id)),
        }
        number += 1;
    }
    *input = strings.input;
    let expected = found.len() as u32;
    let strings: Option<Vec<Vec<u8>>> = found.into_iter().collect();
    strings.ok_or(Finding { offset: start, defect: Defect::Strings { expected, found: number } })
}

/// The strings of a table, read one after the other. Only one is in memory at a time.
#[derive(Clone, Debug)]
pub struct Strings<'a> {
    /// How many strings there should be.
    pub number: usize,
    input: Input<'a>,
    text: Vec<u8>,
    /// For each node on the way: the children still to come, and where its text ends.
    way: Vec<(u8, usize)>,
    /// Offset of the last node.
    node: u64,
}

impl<'a> Strings<'a> {
    pub(super) fn new(mut input: Input<'a>) -> Result<Self, Finding> {
        // A string takes at least its node's byte and its number.
        let number = input.count(4, 2)?;
        let (text, way, node) = (Vec::new(), vec![(1, 0)], input.offset());
        Ok(Self { number, input, text, way, node })
    }

    /// The next string and its number.
    #[expect(clippy::should_implement_trait, reason = "it lends what the next call changes")]
    pub fn next(&mut self) -> Result<Option<(u32, &[u8])>, Finding> {
        self.next_or_tell(&mut |_| {})
    }

    /// The same, but tells of tolerated defects.
    fn next_or_tell(&mut self, tell: Tell<'_>) -> Result<Option<(u32, &[u8])>, Finding> {
        while let Some((children, end)) = self.way.last_mut() {
            let Some(left) = children.checked_sub(1) else {
                self.way.pop();
                continue;
            };
            *children = left;
            self.text.truncate(*end);
            if let Some(id) = self.node(tell)? {
                return Ok(Some((id, &self.text)));
            }
        }
        Ok(None)
    }

    /// Reads a node with its label. Gives the number of the string that ends there.
    fn node(&mut self, tell: Tell<'_>) -> Result<Option<u32>, Finding> {
        let is_root = self.way.len() == 1;
        if !is_root {
            let length = self.input.u16()?;
            self.text.extend_from_slice(self.input.take(length.into())?);
        }
        let offset = self.input.offset();
        self.node = offset;
        let node = self.input.byte()?;
        let id = if node & HIGH != 0 { Some(self.input.u32()?) } else { None };
        if node == 0 && !is_root {
            tell(Finding { offset, defect: Defect::EmptyNode });
        }
        if self.way.len() > DEEPEST {
            return self.input.error(offset, Defect::Trie);
        }
        self.way.push((node & !HIGH, self.text.len()));
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::Part;
    use super::*;

    fn round_trip(names: &[&[u8]], encoding: Encoding) -> Vec<u8> {
        let mut output = Output::new(encoding);
        encode(names, usize::MAX, &mut output);
        let bytes = output.bytes;
        let mut input = Input::new(&bytes, Part::Header, 0, bytes.len());
        input.set_encoding(encoding);
        let tell = &mut |finding| panic!("{finding}");
        let decoded = decode(&mut input, &mut most_bytes(bytes.len()), tell).unwrap();
        assert_eq!(decoded, names);
        assert_eq!(input.left(), 0);
        bytes
    }

    #[test]
    fn shared_beginnings_are_written_once() {
        let bytes = round_trip(&[b"cb1", b"cb2", b"main"], Encoding::Compact);
        // The table of the profile `mini`.
        assert_eq!(bytes, b"\x03\x02\x02cb\x02\x011\x80\x00\x012\x80\x01\x04main\x80\x02");
        assert_eq!(round_trip(&[], Encoding::Normal), [0; 5]);
        round_trip(&[b"", b"a", b"ab", b"abc", b"b"], Encoding::Normal);
    }

    #[test]
    fn more_children_than_a_node_can_have() {
        let names: Vec<[u8; 2]> = (1..=255).map(|byte| [byte, b'x']).collect();
        let names: Vec<&[u8]> =
            [b"".as_slice()].into_iter().chain(names.iter().map(|n| &n[..])).collect();
        round_trip(&names, Encoding::Normal);
        round_trip(&names, Encoding::Compact);
    }

    #[test]
    fn labels_longer_than_their_length_field() {
        let long = [b'a'; 200_000];
        let longer = [&long[..], b"b"].concat();
        round_trip(&[&long, &longer], Encoding::Compact);
        round_trip(&[b"a", &long[..70_000], &longer], Encoding::Normal);
    }

    #[test]
    fn bombs_are_refused() {
        // In a chain of nodes the written-out strings grow with the square of its length.
        let name = [b'a'; 3000];
        let names: Vec<&[u8]> = (1..=3000).map(|length| &name[..length]).collect();
        let mut output = Output::new(Encoding::Normal);
        encode(&names, usize::MAX, &mut output);
        let read = |mut bytes_left| {
            let mut input = Input::new(&output.bytes, Part::Header, 0, output.bytes.len());
            decode(&mut input, &mut bytes_left, &mut |_| {}).map_err(|f| f.defect)
        };
        assert_eq!(output.bytes.len(), 4 + 1 + 3000 * 8);
        assert_eq!(read(4_000_000), Err(Defect::Trie));
        assert_eq!(read(5_000_000).map(|names| names.len()), Ok(3000));
    }

    /// Names in full would be far longer, or the trie far deeper, than readers accept.
    #[test]
    fn what_would_be_a_bomb_is_not_written() {
        let name = [b'a'; 9000];
        let nested: Vec<&[u8]> = (1..=3000).map(|length| &name[..length]).collect();
        let number = |number: u32| [&name[..], alloc::format!("{number}").as_bytes()].concat();
        let numbers: Vec<Vec<u8>> = (1000..3500).map(number).collect();
        let numbers: Vec<&[u8]> = numbers.iter().map(Vec::as_slice).collect();
        for encoding in [Encoding::Normal, Encoding::Compact] {
            let tables: [Vec<&[u8]>; 2] = [numbers.clone(), nested.clone()];
            let encoded = encode_all(&tables, encoding);
            let length = encoded.iter().map(Vec::len).sum();
            let mut bytes_left = most_bytes(length);
            for (names, bytes) in tables.iter().zip(encoded) {
                let mut input = Input::new(&bytes, Part::Header, 1, bytes.len());
                input.set_encoding(encoding);
                let decoded = decode(&mut input, &mut bytes_left, &mut |_| {}).unwrap();
                assert!(decoded == *names);
            }
        }
        let mut output = Output::new(Encoding::Compact);
        assert_eq!(encode(&nested, usize::MAX, &mut output), 3001);
        assert_eq!(encode(&nested, MOST_EXPANSION, &mut output), 1 + MOST_EXPANSION);
    }
}
