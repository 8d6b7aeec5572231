//! The live file of an image, and those that others have left behind.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use core::sync::atomic::AtomicI64;

use zerocopy::{FromZeros, IntoBytes};

use crate::raw::head::Head;
use crate::raw::layout::{Identity, SectionKind, Sums, SumsRecord};
use crate::raw::live::{Header, ID, MAGIC, MOST_FILES, START, is_same, renumbered};
use crate::raw::writer::{Buffer, Sink, Writer};
use crate::runtime::abi::{Array, Instrumented, Shift};
use crate::runtime::counters::node::Node;
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::message::decimal;
use crate::runtime::module::{LiveModule, Objects};
use crate::runtime::output_path::Path;
use crate::runtime::replace::still_named;
use crate::runtime::sys::{self, Access, Errno, File};

/// Where the linker script put the counters.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    address: NonNull<u8>,
    length: usize,
}

// SAFETY: only a place; whoever uses it has the image's state.
unsafe impl Send for Region {}

impl Region {
    /// Takes the bounds that the script defines.
    ///
    /// # Safety
    ///
    /// They must bound whole pages that hold only counters and nodes.
    pub unsafe fn new(start: *mut u8, end: *mut u8) -> Option<Self> {
        let length = (end as usize).checked_sub(start as usize).filter(|&length| length > 0)?;
        Some(Self { address: NonNull::new(start)?, length })
    }

    /// Its addresses.
    pub fn addresses(&self) -> core::ops::Range<usize> {
        let start = self.address.as_ptr().addr();
        start..start.wrapping_add(self.length)
    }

    fn holds(&self, place: usize, bytes: usize) -> bool {
        let start = self.address.as_ptr() as usize;
        place >= start && place.wrapping_sub(start).saturating_add(bytes) <= self.length
    }

    /// The bytes before the nodes and those behind them.
    fn around(&self, nodes: &Nodes) -> [&[u8]; 2] {
        let start = self.address.as_ptr() as usize;
        let before = (core::ptr::from_ref(nodes) as usize).wrapping_sub(start).min(self.length);
        let behind = before.wrapping_add(size_of::<Nodes>()).min(self.length);
        [(0, before), (behind, self.length)].map(|(from, to)| {
            let from_here = self.address.as_ptr().wrapping_add(from);
            bytes_of(from_here.cast(), to.wrapping_sub(from))
        })
    }

    fn offset(&self, place: usize) -> u64 {
        START.wrapping_add(place.wrapping_sub(self.address.as_ptr() as usize) as u64)
    }
}

/// Numbers of live files.
#[derive(Clone, Copy, Debug)]
pub struct Numbers([u64; (MOST_FILES / 64) as usize]);

/// A directory may fill the buffer this many times. Beyond that trying each name is faster.
const MOST_READS: usize = 4;

impl Numbers {
    /// None of them.
    pub const NONE: Self = Self([0; (MOST_FILES / 64) as usize]);
    /// All of them.
    pub const ALL: Self = Self([u64::MAX; (MOST_FILES / 64) as usize]);

    /// The numbers of the files beside `target`; nothing if that is hard to tell. `scratch` is room for a
    /// path.
    pub fn beside(target: &Path, scratch: &mut Path, buffer: &mut Buffer) -> Option<Self> {
        let directory = target.directory();
        let name = target.bytes().get(directory.len()..)?;
        scratch.set(if directory.is_empty() { b"." } else { directory }).ok()?;
        let directory = sys::open(scratch.c_str(), Access::Read).ok()?;
        let mut found = Self::NONE;
        for _ in 0..MOST_READS {
            let length = sys::read_directory(&directory, buffer).ok()?;
            let mut entries = buffer.get(..length)?;
            if entries.is_empty() {
                return Some(found);
            }
            while let Some((entry, rest)) = first_entry(entries) {
                let number = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix(b".live."));
                number.and_then(value).into_iter().for_each(|number| found.add(number));
                entries = rest;
            }
        }
        None
    }

    /// Whether a number is among them.
    pub fn has(&self, number: u64) -> bool {
        let word = self.0.get((number / 64) as usize);
        word.is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    fn add(&mut self, number: u64) {
        if let Some(word) = self.0.get_mut((number / 64) as usize) {
            *word |= 1 << (number % 64);
        }
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: u64) {
        if let Some(word) = self.0.get_mut((number / 64) as usize) {
            *word &= !(1 << (number % 64));
        }
    }
}

/// The name in the first of several directory entries, and those behind it.
fn first_entry(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    /// Offsets of an entry's length and name.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let length = entries.get(LENGTH..)?.first_chunk()?;
    let (entry, rest) = entries.split_at_checked(u16::from_ne_bytes(*length).into())?;
    let name = entry.get(NAME..)?;
    Some((name.split(|&byte| byte == 0).next()?, rest))
}

/// The number that decimal digits stand for; `None` for leading zeros, more than three digits, or other
/// characters.
fn value(digits: &[u8]) -> Option<u64> {
    let is_usual = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 3;
    let add = |value: u64, &digit: &u8| {
        Some(value.wrapping_mul(10).wrapping_add(char::from(digit).to_digit(10)?.into()))
    };
    if is_usual { digits.iter().try_fold(0, add) } else { None }
}

/// The live file of an image.
///
/// It is not kept open: the program may close any descriptor and give its number to a file of its own. The
/// mapping keeps the lock.
#[derive(Debug, Default)]
pub struct Live {
    active: bool,
    id: u64,
    mapped: bool,
    /// Device and inode. As long as the file's pages are the counters, no other file can be taken for it.
    identity: (u64, u64),
    path: Path,
}

impl Live {
    /// None yet.
    pub const fn new() -> Self {
        Self { active: false, id: 0, mapped: false, identity: (0, 0), path: Path::new() }
    }

    /// Whether the counters are in a file.
    pub const fn is_active(&self) -> bool {
        self.active
    }

    /// Whether the counters have ever been in a file, and so are shared with children.
    pub const fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// Id of the file, 0 if there is none.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// Puts the counters into a file beside `target` under a number that is not `taken`.
    pub fn begin(
        &mut self,
        region: Region,
        live: &LiveModule<'_, impl Instrumented>,
        nodes: &Nodes,
        target: &Path,
        taken: &Numbers,
        buffer: &mut Buffer,
    ) -> Result<(), Errno> {
        let place = core::ptr::from_ref(nodes) as usize;
        if !region.holds(place, size_of::<Nodes>()) || !all_inside(&region, &live.objects) {
            return Err(Errno::RANGE);
        }
        let mut first_error = Errno::BUSY;
        for number in (0..MOST_FILES).filter(|&number| !taken.has(number)) {
            path_of(target, number, &mut self.path)?;
            let file = match self.take() {
                Ok(Some(file)) => file,
                Ok(None) => continue,
                // Somebody else's file or folder of this name does not rule out the next number.
                Err(error) if first_error == Errno::BUSY => {
                    first_error = error;
                    continue;
                }
                Err(_) => continue,
            };
            self.id = id(number);
            let filled = self.fill(&file, region, live, nodes, buffer);
            // SAFETY: the region is whole pages with nothing but counters, and the file has their values.
            // Nobody else counts yet; otherwise what they count meanwhile is lost.
            let map =
                |()| unsafe { sys::map_over(region.address, region.length, Some((&file, START))) };
            if let Err(error) = filled.and_then(map) {
                sys::remove(self.path.c_str());
                self.id = 0;
                return Err(error);
            }
            (self.active, self.mapped) = (true, true);
            return Ok(());
        }
        self.id = 0;
        Err(first_error)
    }

    /// In a child: gives up the parent's file and begins at zero, in ordinary memory.
    pub fn leave_to_parent(&mut self, region: Region, nodes: Option<&Nodes>) -> Result<(), Errno> {
        (self.active, self.id, self.mapped) = (false, 0, false);
        let lent = nodes.and_then(Nodes::lent);
        // SAFETY: the region is whole pages with nothing but counters, which are the parent's.
        unsafe { sys::map_over(region.address, region.length, None) }?;
        nodes.zip(lent).into_iter().for_each(|(nodes, lent)| nodes.set_lent(lent));
        Ok(())
    }

    /// Removes the file after its counts have been added. The counters stay.
    pub fn finish(&mut self, nodes: Option<&Nodes>) {
        // Behind `chroot` or with other rights the process no longer gets at the file by its name.
        if let Some(nodes) = nodes.filter(|_| self.active) {
            nodes.settle(self.id);
        }
        if self.active && self.has_name() {
            let _ = take_id(&self.path, self.id);
            sys::remove(self.path.c_str());
        }
        (self.active, self.id) = (false, 0);
    }

    /// Gives the file a free name beside another dump, in one step. `scratch` is room for a path.
    pub fn follow(&mut self, target: &Path, scratch: &mut Path) -> Result<(), Errno> {
        if !self.has_name() {
            return Err(Errno::NOENT);
        }
        path_of(target, self.id % MOST_FILES, scratch)?;
        if scratch.bytes() == self.path.bytes() {
            return Ok(());
        }
        for number in 0..MOST_FILES {
            path_of(target, number, scratch)?;
            match sys::rename_to_free(self.path.c_str(), scratch.c_str()) {
                Err(Errno::EXIST) => continue,
                result => result?,
            }
            self.id = renumbered(self.id, number);
            return self.path.set(scratch.bytes());
        }
        Err(Errno::BUSY)
    }

    /// Whether the file still has its name. It does not where `chroot` has made the name another one.
    fn has_name(&self) -> bool {
        sys::facts_at(self.path.c_str()).is_ok_and(|named| named.identity == self.identity)
    }

    /// Makes a file, for its owner alone. Nobody else ever had it open.
    fn take(&mut self) -> Result<Option<File>, Errno> {
        let file = match sys::open(self.path.c_str(), Access::Create) {
            Err(Errno::EXIST) => return Ok(None),
            result => result?,
        };
        match sys::try_lock(&file) {
            Ok(()) => {}
            // Another process takes it for left over.
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => {
                sys::remove(self.path.c_str());
                return Err(error);
            }
        }
        self.identity = sys::facts(&file)?.identity;
        Ok(self.has_name().then_some(file))
    }

    fn fill(
        &mut self,
        file: &File,
        region: Region,
        live: &LiveModule<'_, impl Instrumented>,
        nodes: &Nodes,
        buffer: &mut Buffer,
    ) -> Result<(), Errno> {
        let end = START.saturating_add(region.length as u64);
        // A page without room would later end the program. So everything is written now except nodes and
        // indexes that nobody has: those ask before use.
        let can_ask = sys::can_populate();
        match can_ask {
            true => sys::set_length(file, end)?,
            false => sys::allocate(file, end)?,
        }
        let in_use = nodes.in_use();
        nodes.set_room(!can_ask);
        for bytes in region.around(nodes).into_iter().chain(in_use) {
            sys::write_at(file, bytes, region.offset(bytes.as_ptr() as usize))?;
        }
        let dump_length = Self::describe(file, end, region, live, buffer)?;
        let header = Header {
            magic: MAGIC,
            id: self.id,
            address: region.address.as_ptr() as u64,
            length: region.length as u64,
            identity: live.record.identity,
            dump_length,
            image: live.objects.registry.image().map(|address| address as u64),
            settled_at: region.offset(nodes.settled_at()),
        };
        sys::write_at(file, header.as_bytes(), 0)
    }

    /// Writes what readers other than this program need, from an offset on: a dump and the places of the
    /// counters. Gives the length of the dump.
    fn describe(
        file: &File,
        start: u64,
        region: Region,
        live: &LiveModule<'_, impl Instrumented>,
        buffer: &mut Buffer,
    ) -> Result<u64, Errno> {
        let mut writer = Writer::new(Appended { file, end: start }, buffer);
        live.write_head(&mut writer)?;
        let kind = SectionKind::Functions;
        live.objects.write_functions_with(&mut Head::default(), &mut writer, |array, writer| {
            let words = array.site_count().wrapping_mul(2).wrapping_add(array.words());
            (0..words).try_for_each(|_| writer.put_word(kind, 0))
        })?;
        let (counters, sites) = live.objects.totals();
        let (counters, sites) = (counters as u64, sites as u64);
        let sums = SumsRecord { sums: Sums::default(), counters, sites };
        writer.put_record(SectionKind::Sums, &sums)?;
        let mut sink = writer.finish()?;
        let length = sink.end.wrapping_sub(start);
        Self::write_places(&mut sink, region, live, buffer)?;
        Ok(length)
    }

    fn write_places(
        sink: &mut Appended<'_>,
        region: Region,
        live: &LiveModule<'_, impl Instrumented>,
        buffer: &mut Buffer,
    ) -> Result<(), Errno> {
        let mut arrays = live.objects.arrays();
        loop {
            let mut used = 0usize;
            for (word, array) in buffer.as_chunks_mut().0.iter_mut().zip(&mut arrays) {
                let place = array.place();
                // Sites may have no place.
                let offset = if place.is_empty() { 0 } else { region.offset(place.start) };
                *word = offset.to_ne_bytes();
                used = used.wrapping_add(word.len());
            }
            match buffer.get(..used) {
                Some(bytes) if used > 0 => sink.write(bytes)?,
                _ => return Ok(()),
            }
        }
    }
}

/// The growing end of a file.
struct Appended<'f> {
    file: &'f File,
    end: u64,
}

impl Sink for Appended<'_> {
    type Error = Errno;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        sys::write_at(self.file, bytes, self.end)?;
        self.end = self.end.wrapping_add(bytes.len() as u64);
        Ok(())
    }
}

/// A live file that a process has left behind.
pub struct LeftOver {
    file: File,
    header: Header,
    memory: NonNull<u8>,
    shift: Shift,
}

impl LeftOver {
    /// Opens the live file beside `target` with this number, if it is of this module and no process has it.
    /// `scratch` is room for its path. Removes a file that has been added, or in which nothing was counted
    /// yet.
    pub fn open(
        target: &Path,
        number: u64,
        scratch: &mut Path,
        region: Region,
        identity: &Identity,
    ) -> Option<Self> {
        path_of(target, number, scratch).ok()?;
        let file = sys::open(scratch.c_str(), Access::Change).ok()?;
        let facts = sys::facts(&file).ok()?;
        // Another name for it could be that of a file in use elsewhere.
        facts.must_be_a_file().ok().filter(|()| facts.links == 1)?;
        sys::try_lock(&file).ok().filter(|()| still_named(scratch, &file))?;
        let mut header = Header::new_zeroed();
        sys::read_at(&file, header.as_mut_bytes(), 0).ok()?;
        let word = |offset| {
            let mut word = 0u64;
            sys::read_at(&file, word.as_mut_bytes(), offset).ok().map(|_| word)
        };
        // The header is written last.
        let begun = header.magic == [0; 8] && header.id == 0;
        let settled = header.magic == MAGIC && header.is_settled(word);
        if begun || settled {
            sys::remove(scratch.c_str());
        }
        if settled || header.magic != MAGIC {
            return None;
        }
        if header.identity != *identity || header.length != region.length as u64 {
            return None;
        }
        header.id = renumbered(header.id, number);
        // Read, not mapped: whoever can write the file may cut it short meanwhile.
        let memory = sys::map(region.length).ok()?;
        let bytes = (memory.as_ptr() as isize).wrapping_sub(region.address.as_ptr() as isize);
        let slide = (header.address as isize).wrapping_sub(region.address.as_ptr() as isize);
        let left = Self { file, header, memory, shift: Shift { bytes, slide } };
        left.load().ok().filter(|&length| length == region.length).map(|_| left)
    }

    /// Reads the counters into memory; gives how many bytes there were.
    fn load(&self) -> Result<usize, Errno> {
        let (start, length) = (self.memory.as_ptr(), self.header.length as usize);
        // SAFETY: mapped with this length, and nobody else knows it.
        let memory = unsafe { core::slice::from_raw_parts_mut(start, length) };
        sys::read_at(&self.file, memory, START)
    }

    /// Its id.
    pub fn id(&self) -> u64 {
        self.header.id
    }

    /// Whether the counts have been added since the file was opened.
    pub fn is_settled(&self) -> Result<bool, Errno> {
        let mut id = 0u64;
        sys::read_at(&self.file, id.as_mut_bytes(), ID)?;
        Ok(!is_same(id, self.header.id))
    }

    /// How far the file's counters are from this process's.
    pub fn shift(&self) -> Shift {
        self.shift
    }

    /// Makes the file's lists of values lead to its own nodes. `objects` are those with its counters.
    pub fn relocate(&self, objects: &Objects<'_, impl Instrumented>) {
        for array in objects.arrays() {
            array.relocate(&|address| self.node(address));
        }
    }

    /// The node at this address of the process that is gone.
    fn node(&self, address: usize) -> Option<&'static Node> {
        let offset = (address as u64).wrapping_sub(self.header.address);
        let end = offset.checked_add(size_of::<Node>() as u64)?;
        if end > self.header.length || !offset.is_multiple_of(8) {
            return None;
        }
        let node = self.memory.as_ptr().wrapping_add(offset as usize).cast::<Node>();
        // SAFETY: inside the mapping, aligned, and any bytes are a node.
        unsafe { node.as_ref() }
    }

    /// Events lost for want of a node; `nodes` are this process's.
    pub fn dropped(&self, nodes: &Nodes) -> u64 {
        // SAFETY: the nodes are in the region, as they were in the process that is gone.
        unsafe { nodes.dropped_at(self.shift.bytes) }
    }

    /// Removes the file after its counts have been added.
    pub fn finish(self, target: &Path, number: u64, scratch: &mut Path) {
        let _ = sys::write_at(&self.file, 0u64.as_bytes(), ID);
        if path_of(target, number, scratch).is_ok() {
            sys::remove(scratch.c_str());
        }
    }
}

impl Drop for LeftOver {
    fn drop(&mut self) {
        // SAFETY: mapped with this length, and nobody looks at its counters any more.
        unsafe { sys::unmap(self.memory, self.header.length as usize) };
    }
}

/// Takes its id from the file that has it. The counts have been added, but the process that added them ended
/// before it could remove the file.
pub fn settle(target: &Path, id: u64, scratch: &mut Path) -> Result<(), Errno> {
    path_of(target, id % MOST_FILES, scratch)?;
    take_id(scratch, id)
}

/// Takes an id from a file that has it.
fn take_id(path: &Path, id: u64) -> Result<(), Errno> {
    let file = match sys::open(path.c_str(), Access::Change) {
        // What is there is no live file.
        Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Ok(()),
        result => result?,
    };
    let mut found = 0u64;
    sys::read_at(&file, found.as_mut_bytes(), ID)?;
    if is_same(found, id) {
        sys::write_at(&file, 0u64.as_bytes(), ID)?;
    }
    Ok(())
}

fn path_of(target: &Path, number: u64, path: &mut Path) -> Result<(), Errno> {
    path.set(target.bytes())?;
    path.push(b".live.")?;
    path.push(&decimal(number))
}

/// An id that no other live file has had: number, process and time.
fn id(number: u64) -> u64 {
    let unique = u64::from(sys::process()) << 40 ^ sys::nanoseconds();
    (unique << 8 | number).max(MOST_FILES)
}

fn all_inside(region: &Region, objects: &Objects<'_, impl Instrumented>) -> bool {
    objects.arrays().all(|array| {
        let place = array.place();
        place.is_empty() || region.holds(place.start, place.len())
    })
}

fn bytes_of<'a>(start: *const AtomicI64, length: usize) -> &'a [u8] {
    // SAFETY: counters of the image, or what lies between them. Counts made during the copy may be missing.
    unsafe { core::slice::from_raw_parts(start.cast(), length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_files_in_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let names = ["0", "7", "255", "256", "07", "", "x", "1x", "-1", "99999999999999999999"];
        for name in names {
            std::fs::write(path(&std::format!("a.csraw.live.{name}")), "").unwrap();
        }
        for name in ["a.csraw.5", "a.csrawx.live.6", "b.csraw.live.8", "a.csraw.live.9.live.10"] {
            std::fs::write(path(name), "").unwrap();
        }
        let (mut target, mut scratch) = (Path::new(), Path::new());
        target.set(path("a.csraw").to_str().unwrap().as_bytes()).unwrap();
        let mut buffer = [0; crate::raw::layout::MAX_SECTION];
        let mut found = Numbers::beside(&target, &mut scratch, &mut buffer).unwrap();
        let all = |found: &Numbers| -> std::vec::Vec<u64> {
            (0..MOST_FILES).filter(|&number| found.has(number)).collect()
        };
        assert_eq!(all(&found), [0, 7, 255]);
        found.remove(7);
        assert_eq!(all(&found), [0, 255]);
        assert!(!found.has(MOST_FILES) && all(&Numbers::ALL).len() == MOST_FILES as usize);
        target.set(path("not there/a.csraw").to_str().unwrap().as_bytes()).unwrap();
        assert!(Numbers::beside(&target, &mut scratch, &mut buffer).is_none());
    }
}
