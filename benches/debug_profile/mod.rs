//! A profile of the shape that a real program gives: every function, line, discriminator and inlined body of
//! its debug information, as `create_gcov` finds them. The counts are made up, the same every time: a third
//! of them 0, the others of all magnitudes.
#![allow(dead_code, reason = "every benchmark uses some of it")]

use std::collections::BTreeMap;
use std::error::Error;

use countersink::profile::{Body, Function, Position, Profile, SymbolId};
use gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_call_line, DW_AT_decl_file, DW_AT_decl_line,
    DW_AT_linkage_name, DW_AT_name, DW_AT_specification, DW_TAG_inlined_subroutine,
    DW_TAG_subprogram, Dwarf, EndianSlice, LittleEndian, Range, Unit, UnitOffset,
};
use object::{Object, ObjectSection};

type Slice<'d> = EndianSlice<'d, LittleEndian>;
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The profile of a program's debug information.
pub fn profile(program: &[u8]) -> Result<Profile> {
    let program = object::File::parse(program)?;
    let section = |id: gimli::SectionId| -> std::result::Result<_, gimli::Error> {
        let section = program.section_by_name(id.name());
        let data = section.and_then(|section| section.uncompressed_data().ok());
        Ok(data.unwrap_or_default())
    };
    let sections = gimli::DwarfSections::load(section)?;
    let dwarf = sections.borrow(|section| Slice::new(section, LittleEndian));
    let mut maker = Maker { profile: Profile::default(), functions: Vec::new(), random: 1 };
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        maker.unit(&dwarf, &dwarf.unit(header)?)?;
    }
    maker.call();
    Ok(maker.profile)
}

/// Code of a function, out of line or inlined.
struct Scope {
    ranges: Vec<Range>,
    /// The function, and the line that declares it.
    symbol: SymbolId,
    declared: u64,
    /// The line of the call inlined into the scope around it.
    call_line: u64,
    inner: Vec<Scope>,
}

struct Maker {
    profile: Profile,
    functions: Vec<SymbolId>,
    random: u64,
}

impl Maker {
    fn unit<'d>(&mut self, dwarf: &Dwarf<Slice<'d>>, unit: &Unit<Slice<'d>>) -> Result<()> {
        let scopes = self.scopes(dwarf, unit)?;
        let rows = rows(unit)?;
        for scope in &scopes {
            let mut function = Function { head_count: self.count(), ..Function::default() };
            for range in &scope.ranges {
                for (&address, &(line, discriminator)) in rows.range(range.begin..range.end) {
                    let place = (line, discriminator as u16);
                    let count = self.count();
                    put(scope, &mut function.body, address, place, count);
                }
            }
            if !function.body.positions.is_empty() {
                self.profile.add(scope.symbol, function);
                self.functions.push(scope.symbol);
            }
        }
        Ok(())
    }

    fn scopes<'d>(
        &mut self,
        dwarf: &Dwarf<Slice<'d>>,
        unit: &Unit<Slice<'d>>,
    ) -> Result<Vec<Scope>> {
        let (mut functions, mut open) = (Vec::new(), Vec::<(isize, Scope)>::new());
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let depth = entry.depth();
            while open.last().is_some_and(|(outer, _)| *outer >= depth) {
                close(&mut open, &mut functions);
            }
            if ![DW_TAG_subprogram, DW_TAG_inlined_subroutine].contains(&entry.tag()) {
                continue;
            }
            let mut ranges = Vec::new();
            let mut found = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = found.next()? {
                if range.begin > 0 && range.begin < range.end {
                    ranges.push(range);
                }
            }
            let declared = self.declared(dwarf, unit, entry.offset())?;
            let (Some((symbol, declared)), false) = (declared, ranges.is_empty()) else { continue };
            let call_line = entry.attr(DW_AT_call_line).and_then(|line| line.udata_value());
            let call_line = call_line.unwrap_or(0);
            open.push((depth, Scope { ranges, symbol, declared, call_line, inner: Vec::new() }));
        }
        while !open.is_empty() {
            close(&mut open, &mut functions);
        }
        Ok(functions)
    }

    /// Name and line of a function's declaration.
    fn declared<'d>(
        &mut self,
        dwarf: &Dwarf<Slice<'d>>,
        unit: &Unit<Slice<'d>>,
        place: UnitOffset,
    ) -> Result<Option<(SymbolId, u64)>> {
        let (mut next, mut name, mut line, mut file) = (Some(place), None, None, None);
        while let Some(place) = next {
            let entry = unit.entry(place)?;
            let linkage = entry.attr_value(DW_AT_linkage_name);
            if let Some(value) =
                linkage.or_else(|| entry.attr_value(DW_AT_name).filter(|_| name.is_none()))
            {
                name = Some(dwarf.attr_string(unit, value)?);
            }
            line = line.or(entry.attr(DW_AT_decl_line).and_then(|line| line.udata_value()));
            if let (None, Some(AttributeValue::FileIndex(index))) =
                (file, entry.attr_value(DW_AT_decl_file))
            {
                file = Some(index);
            }
            let origin = entry.attr_value(DW_AT_abstract_origin);
            next = match origin.or_else(|| entry.attr_value(DW_AT_specification)) {
                Some(AttributeValue::UnitRef(origin)) => Some(origin),
                _ => None,
            };
        }
        let (Some(name), Some(line)) = (name, line) else { return Ok(None) };
        let path = file.map(|file| path(dwarf, unit, file)).transpose()?.flatten();
        let file = path.map(|path| self.profile.symbols.file(path.as_bytes()));
        Ok(Some((self.profile.symbols.symbol(name.slice(), file), line)))
    }

    /// Makes one place in thirty a call.
    fn call(&mut self) {
        let mut functions = core::mem::take(&mut self.profile.functions);
        for function in functions.values_mut() {
            for (_, record) in function.body.positions.iter_mut() {
                if self.next().is_multiple_of(30) {
                    let place = self.next() as usize % self.functions.len();
                    let target = self.functions[place];
                    record.targets.insert(target, self.count());
                }
            }
        }
        self.profile.functions = functions;
    }

    fn count(&mut self) -> u64 {
        let random = self.next();
        match random % 3 {
            0 => 0,
            _ => (random >> 8) % 10u64.pow(1 + (random >> 4) as u32 % 6),
        }
    }

    /// Marsaglia's xorshift.
    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

fn close(open: &mut Vec<(isize, Scope)>, functions: &mut Vec<Scope>) {
    let Some((_, scope)) = open.pop() else { return };
    match open.last_mut() {
        Some((_, outer)) => outer.inner.push(scope),
        None => functions.push(scope),
    }
}

/// Puts a count at the place that the innermost scope at the address gives it.
fn put(
    scope: &Scope,
    body: &mut Body,
    address: u64,
    (line, discriminator): (u64, u16),
    count: u64,
) {
    let offset = |line: u64| (line.wrapping_sub(scope.declared) & 0xffff) as u32;
    let is_in = |inner: &&Scope| {
        inner.ranges.iter().any(|range| (range.begin..range.end).contains(&address))
    };
    match scope.inner.iter().find(is_in) {
        Some(inner) => {
            let record = body.positions.entry(Position::line(offset(inner.call_line))).or_default();
            let inlined = record.inlined.entry(inner.symbol).or_default();
            put(inner, inlined, address, (line, discriminator), count);
        }
        None => {
            let position = Position { line: offset(line), discriminator };
            let largest = body.positions.entry(position).or_default().count.get_or_insert(0);
            *largest = count.max(*largest);
        }
    }
}

/// Line and discriminator by address: the last row of each address.
fn rows(unit: &Unit<Slice<'_>>) -> Result<BTreeMap<u64, (u64, u64)>> {
    let mut lines = BTreeMap::new();
    let Some(program) = unit.line_program.clone() else { return Ok(lines) };
    let mut rows = program.rows();
    while let Some((_, row)) = rows.next_row()? {
        if let Some(line) = row.line().filter(|_| !row.end_sequence()) {
            lines.insert(row.address(), (line.get(), row.discriminator()));
        }
    }
    Ok(lines)
}

fn path(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>, file: u64) -> Result<Option<String>> {
    let Some(program) = &unit.line_program else { return Ok(None) };
    let header = program.header();
    let Some(entry) = header.file(file) else { return Ok(None) };
    let text = |value| {
        Ok::<_, gimli::Error>(dwarf.attr_string(unit, value)?.to_string_lossy().into_owned())
    };
    let mut path = text(entry.path_name())?;
    if let Some(directory) = entry.directory(header).filter(|_| !path.starts_with('/')) {
        path = text(directory)? + "/" + &path;
    }
    if let (Some(directory), false) = (unit.comp_dir, path.starts_with('/')) {
        path = directory.to_string_lossy().into_owned() + "/" + &path;
    }
    Ok(Some(path))
}
