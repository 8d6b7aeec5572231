//! String tables: tries whose labels are the shared beginnings of names.

use alloc::vec;
use alloc::vec::Vec;

use super::HIGH;
use super::check::{Defect, Finding};
use super::number::{Input, Output};

/// Most children of a node.
const MOST_CHILDREN: usize = 127;
/// Longest label.
const LONGEST_LABEL: usize = u16::MAX as usize;
/// Deepest trie that is read (D10).
const DEEPEST: usize = 65536;
/// Bytes of strings, put together, that the tables of a file may hold, besides so many for each
/// byte of the file (D10).
const MOST_BYTES: usize = 16 << 20;
const MOST_EXPANSION: usize = 128;

/// Writes a table of names, which must be in bytewise order and differ. Their numbers are their
/// places.
pub(super) fn encode(names: &[&[u8]], output: &mut Output) {
    output.u32(names.len() as u32);
    let mut next_id = 0;
    let mut nodes = vec![Node::Bare { names, depth: 0 }];
    while let Some(node) = nodes.pop() {
        let (names, depth) = match node {
            Node::Bare { names, depth } => (names, depth),
            Node::Labelled { names, depth } => (names, label(names, depth, output)),
            Node::Rest { names, depth } => {
                output.u16(0);
                (names, depth)
            }
        };
        let (ends, names) = match names {
            [first, rest @ ..] if first.len() == depth => (HIGH, rest),
            names => (0, names),
        };
        let mut children: Vec<_> = names
            .chunk_by(|a, b| a[depth] == b[depth])
            .map(|names| Node::Labelled { names, depth })
            .collect();
        if children.len() > MOST_CHILDREN {
            let kept: usize = children.drain(MOST_CHILDREN - 1..).map(|node| node.len()).sum();
            children.push(Node::Rest { names: &names[names.len() - kept..], depth });
        }
        output.byte(ends | children.len() as u8);
        if ends != 0 {
            output.u32(next_id);
            next_id += 1;
        }
        nodes.extend(children.into_iter().rev());
    }
}

/// A node still to be written: names that share their first `depth` bytes.
enum Node<'n> {
    /// Without a label: the root.
    Bare { names: &'n [&'n [u8]], depth: usize },
    /// With a label that starts at `depth`.
    Labelled { names: &'n [&'n [u8]], depth: usize },
    /// With an empty label: the children a node has too many of.
    Rest { names: &'n [&'n [u8]], depth: usize },
}

impl Node<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Bare { names, .. } | Self::Labelled { names, .. } | Self::Rest { names, .. } => {
                names.len()
            }
        }
    }
}

/// Writes what the names share from `depth` on as a label; gives the depth behind it.
fn label(names: &[&[u8]], depth: usize, output: &mut Output) -> usize {
    let (first, last) = (names[0], names[names.len() - 1]);
    let shared = first[depth..].iter().zip(&last[depth..]).take_while(|(a, b)| a == b).count();
    let mut pieces = first[depth..depth + shared].chunks(LONGEST_LABEL).peekable();
    while let Some(piece) = pieces.next() {
        output.u16(piece.len() as u16);
        output.bytes.extend_from_slice(piece);
        if pieces.peek().is_some() {
            output.byte(1);
        }
    }
    depth + shared
}

/// The bytes of strings that a file of this length may have.
pub(super) const fn most_bytes(length: usize) -> usize {
    length.saturating_mul(MOST_EXPANSION).saturating_add(MOST_BYTES)
}

/// Reads a table; the strings by number. What they take is taken off `bytes_left`.
pub(super) fn decode(
    input: &mut Input<'_>,
    bytes_left: &mut usize,
    tolerated: &mut Vec<Finding>,
) -> Result<Vec<Vec<u8>>, Finding> {
    let start = input.offset();
    let mut strings = Strings::new(input.clone())?;
    let mut found = vec![None; strings.number];
    let mut number = 0;
    while let Some((id, text)) = strings.next()? {
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
    tolerated.append(&mut strings.tolerated);
    *input = strings.input;
    let expected = found.len() as u32;
    let strings: Option<Vec<Vec<u8>>> = found.into_iter().collect();
    strings.ok_or(Finding { offset: start, defect: Defect::Strings { expected, found: number } })
}

/// The strings of a table, read one after the other; in memory is one at a time.
#[derive(Clone, Debug)]
pub struct Strings<'a> {
    /// How many there should be.
    pub number: usize,
    input: Input<'a>,
    text: Vec<u8>,
    /// For each node on the way the children still to come, and where its text ends.
    way: Vec<(u8, usize)>,
    /// The last node.
    node: u64,
    tolerated: Vec<Finding>,
}

impl<'a> Strings<'a> {
    pub(super) fn new(mut input: Input<'a>) -> Result<Self, Finding> {
        // A string takes at least its node's byte and its number.
        let number = input.count(4, 2)?;
        let (text, way, node) = (Vec::new(), vec![(1, 0)], input.offset());
        Ok(Self { number, input, text, way, node, tolerated: Vec::new() })
    }

    /// The next string and its number.
    #[expect(clippy::should_implement_trait, reason = "it lends what the next call changes")]
    pub fn next(&mut self) -> Result<Option<(u32, &[u8])>, Finding> {
        while let Some((children, end)) = self.way.last_mut() {
            let Some(left) = children.checked_sub(1) else {
                self.way.pop();
                continue;
            };
            *children = left;
            self.text.truncate(*end);
            if let Some(id) = self.node()? {
                return Ok(Some((id, &self.text)));
            }
        }
        Ok(None)
    }

    /// Reads a node with its label; gives the number of the string that ends there.
    fn node(&mut self) -> Result<Option<u32>, Finding> {
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
            self.tolerated.push(Finding { offset, defect: Defect::EmptyNode });
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
    use super::super::number::Encoding;
    use super::*;

    fn round_trip(names: &[&[u8]], encoding: Encoding) -> Vec<u8> {
        let mut output = Output::new(encoding);
        encode(names, &mut output);
        let bytes = output.bytes;
        let mut input = Input::new(&bytes, Part::Header, 0, bytes.len());
        input.set_encoding(encoding);
        let mut tolerated = Vec::new();
        let decoded = decode(&mut input, &mut most_bytes(bytes.len()), &mut tolerated).unwrap();
        assert_eq!(decoded, names);
        assert_eq!((input.left(), tolerated.len()), (0, 0));
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
        // A chain of nodes whose strings, written out, grow with its square.
        let name = [b'a'; 3000];
        let names: Vec<&[u8]> = (1..=3000).map(|length| &name[..length]).collect();
        let mut output = Output::new(Encoding::Normal);
        encode(&names, &mut output);
        let read = |mut bytes_left| {
            let mut input = Input::new(&output.bytes, Part::Header, 0, output.bytes.len());
            decode(&mut input, &mut bytes_left, &mut Vec::new()).map_err(|f| f.defect)
        };
        assert_eq!(output.bytes.len(), 4 + 1 + 3000 * 8);
        assert_eq!(read(4_000_000), Err(Defect::Trie));
        assert_eq!(read(5_000_000).map(|names| names.len()), Ok(3000));
    }
}
