//! Reads a text into the model.

use alloc::vec::Vec;

use hashbrown::HashSet;

use super::check::{Defect, Findings, Tell, TextError};
use super::lines::{Lines, decimal, of_any_base};
use super::{EXTERNAL, HEADERS};
use crate::counters::{Function, Profile, Site, Trace, Value, ValueKind, Variant, name_ref};

/// What a text says.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// Whether the header says that a front end placed the counters (`:fe`). Without a line about it, it did so, too,
    /// but `llvm-profdata` adds such a profile to others.
    pub says_front_end: bool,
    /// Names of functions called indirectly, each once: also of those that are not in the profile.
    pub targets: Vec<Vec<u8>>,
    /// Defects that were tolerated.
    pub findings: Findings,
}

/// Reads a text; the first defect that cannot be tolerated is an error.
pub fn decode(text: &[u8]) -> Result<Decoded, TextError> {
    decode_and_tell(text, &mut |_| {})
}

/// The same, but reports each defect as soon as it is found.
pub fn decode_and_tell(text: &[u8], tell: &mut dyn FnMut(TextError)) -> Result<Decoded, TextError> {
    let mut findings = Findings::default();
    let mut note = |found: TextError| {
        tell(found.clone());
        findings.note(found);
    };
    let mut parser = Parser::new(text);
    parser.header(&mut note)?;
    while let Some(name) = parser.lines.take() {
        let function = parser.function(name)?;
        parser.profile.functions.push(function);
    }
    let Parser { profile, says_front_end, targets, .. } = parser;
    let targets = targets.into_iter().map(<[u8]>::to_vec).collect();
    Ok(Decoded { profile, says_front_end, targets, findings })
}

/// Whether the first lines are a header or a function.
pub(super) fn begins_well(text: &[u8]) -> bool {
    let mut lines = Lines::new(text);
    match lines.take() {
        Some([b':', name @ ..]) if name != b"temporal_prof_traces" => header_bits(name).is_some(),
        Some([b':', ..]) => true,
        Some(_) => {
            let is_hash = lines.take().and_then(of_any_base).is_some();
            is_hash && lines.take().and_then(decimal).is_some_and(|number| number > 0)
        }
        None => false,
    }
}

/// What a line of the header says: the bits that it sets, and those that it takes away.
fn header_bits(name: &[u8]) -> Option<(Variant, Variant)> {
    const NONE: Variant = Variant(0);
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    if is("csir") {
        return Some((Variant(Variant::IR.0 | Variant::CONTEXT_SENSITIVE.0), NONE));
    }
    if is("fe") {
        return Some((NONE, NONE));
    }
    if is("not_entry_first") {
        return Some((NONE, Variant::ENTRY_FIRST));
    }
    HEADERS.iter().find(|(_, known, _)| is(known)).map(|&(.., bits)| (bits, NONE))
}

struct Parser<'t> {
    lines: Lines<'t>,
    profile: Profile,
    says_front_end: bool,
    targets: HashSet<&'t [u8]>,
    vtables: HashSet<&'t [u8]>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self {
            lines: Lines::new(text),
            profile: Profile::default(),
            says_front_end: false,
            targets: HashSet::new(),
            vtables: HashSet::new(),
        }
    }

    fn header(&mut self, tell: Tell<'_>) -> Result<(), TextError> {
        while let Some([b':', name @ ..]) = self.lines.peek() {
            self.lines.take();
            if name.eq_ignore_ascii_case(b"temporal_prof_traces") {
                self.profile.variant.0 |= Variant::TEMPORAL.0;
                self.traces(tell)?;
                continue;
            }
            self.says_front_end |= name.eq_ignore_ascii_case(b"fe");
            let bits = header_bits(name);
            let (set, clear) = bits.ok_or_else(|| self.lines.error(0, Defect::Header))?;
            let variant = &mut self.profile.variant.0;
            *variant = (*variant | set.0) & !clear.0;
        }
        Ok(())
    }

    fn traces(&mut self, tell: Tell<'_>) -> Result<(), TextError> {
        let number = self.lines.number("the number of traces")?;
        let seen = self.lines.number("the number of traces seen")?;
        if seen < number {
            tell(self.lines.error(0, Defect::TracesSeen { expected: number, found: seen }));
        }
        self.profile.traced_runs = seen;
        for _ in 0..number {
            let weight = self.lines.number("the weight of a trace")?;
            let names = self.lines.expect("the functions of a trace")?;
            let names = names.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
            let names = names.filter(|name| !name.is_empty());
            let functions: Vec<u64> = names.map(name_ref).collect();
            if !functions.is_empty() {
                self.profile.traces.push(Trace { weight, functions });
            }
        }
        Ok(())
    }

    /// Reads what follows the name of a function.
    fn function(&mut self, name: &[u8]) -> Result<Function, TextError> {
        let hash = self.lines.number_of_any_base("the hash of a function")?;
        let number = self.lines.number("the number of counters")?;
        if number == 0 {
            return Err(self.lines.error(0, Defect::NoCounters));
        }
        let counters = (0..number).map(|_| self.lines.number("a counter"));
        let counters = counters.collect::<Result<Vec<u64>, TextError>>()?;
        let bitmap = self.bitmap()?;
        let values = self.values()?;
        Ok(Function { name: name.to_vec(), hash, counters, bitmap, values })
    }

    fn bitmap(&mut self) -> Result<Vec<u8>, TextError> {
        const BYTE: &str = "a byte of a bitmap";
        // Names of Swift begin with `$`, too.
        let number = self.lines.peek().and_then(|line| decimal(line.strip_prefix(b"$")?));
        let Some(number) = number else { return Ok(Vec::new()) };
        self.lines.take();
        let byte = |_| {
            let byte = self.lines.number_of_any_base(BYTE)?;
            u8::try_from(byte).map_err(|_| self.lines.error(0, Defect::Expected(BYTE)))
        };
        (0..number).map(byte).collect()
    }

    fn values(&mut self) -> Result<[Vec<Site>; ValueKind::ALL.len()], TextError> {
        let mut values = <[Vec<Site>; ValueKind::ALL.len()]>::default();
        let Some(kinds) = self.lines.peek().and_then(decimal) else { return Ok(values) };
        self.lines.take();
        if kinds == 0 || kinds > values.len() as u64 {
            return Err(self.lines.error(0, Defect::Kinds(kinds)));
        }
        for _ in 0..kinds {
            let number = self.lines.number("a value kind")?;
            let kind = ValueKind::ALL.into_iter().find(|&kind| kind as u64 == number);
            let kind = kind.ok_or_else(|| self.lines.error(0, Defect::ValueKind(number)))?;
            for _ in 0..self.lines.number("the number of sites")? {
                let site = self.site(kind)?;
                values[kind as usize].push(site);
            }
        }
        Ok(values)
    }

    fn site(&mut self, kind: ValueKind) -> Result<Site, TextError> {
        let number = self.lines.number("the number of values")?;
        let values = (0..number).map(|_| self.value(kind)).collect::<Result<_, _>>()?;
        Ok(Site { values })
    }

    fn value(&mut self, kind: ValueKind) -> Result<Value, TextError> {
        const WHAT: &str = "a value, ':' and its count";
        let line = self.lines.expect(WHAT)?;
        let colon = line.iter().rposition(|&byte| byte == b':');
        let colon = colon.ok_or_else(|| self.lines.error(0, Defect::Expected(WHAT)))?;
        let (value, count) = (&line[..colon], &line[colon + 1..]);
        let count = decimal(count);
        let count =
            count.ok_or_else(|| self.lines.error(colon + 1, Defect::Expected("a count")))?;
        let value = match kind {
            ValueKind::MemorySize => {
                decimal(value).ok_or_else(|| self.lines.error(0, Defect::Expected("a size")))?
            }
            _ if value.starts_with(EXTERNAL) => 0,
            ValueKind::IndirectCall => {
                self.targets.insert(value);
                name_ref(value)
            }
            ValueKind::VirtualTable => {
                if self.vtables.insert(value) {
                    self.profile.vtables.push(value.to_vec());
                }
                name_ref(value)
            }
        };
        Ok(Value { value, count })
    }
}
