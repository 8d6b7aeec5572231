//! Conversions within the test's own process: of programs that are in no file, and for readers that no option
//! names.
#![allow(dead_code, reason = "every test uses some of it")]

use countersink::convert::gcov::program_reader::ProgramReader;
use countersink::convert::gcov::{self, Statistics};
use countersink::formats::gcno::Notes;
use countersink::placement::reader::Reader;
use countersink::placement::solve::counted::Counted;
use countersink::profile::Profile;
use countersink::program::counters::Wanted;
use countersink::program::disassembly::listings;
use countersink::program::listing::Analysis;
use countersink::program::listing::Tables;
use countersink::raw::dump::Dump;
use countersink::workers::Alone;

use crate::harness::Workshop;

/// The machine code of a dump's only module. It may be damaged.
struct Code<'c> {
    program: &'c [u8],
}

impl ProgramReader for Code<'_> {
    fn wants_check(&self) -> bool {
        true
    }

    fn listings<S: Analysis>(
        &self,
        _: usize,
        functions: &[Counted<'_>],
        analysis: &S,
        mut take: impl FnMut(u32, &Tables, Vec<S::Finding>) + Send,
    ) -> bool {
        let wanted = |function: &Counted<'_>| {
            let (view, object) = &function.views[0];
            Wanted::of(object, view)
        };
        let wanted: Vec<Wanted> = functions.iter().map(wanted).collect();
        let Ok(file) = object::File::parse(self.program) else { return false };
        let take = |tables: &Tables, findings| take(0, tables, findings);
        listings(&file, &file, &wanted, &<[u8]>::to_vec, analysis, take).is_ok()
    }

    fn function(&self, _: u32) -> Option<Vec<u8>> {
        None
    }
}

/// A dump of one module, and the bytes of its notes.
pub struct Counts {
    dump: Dump,
    notes: Vec<Vec<u8>>,
}

impl Counts {
    /// Reads a dump of the folder, and the notes of its objects.
    pub fn read(shop: &Workshop, dump: &str) -> Self {
        Self::read_from(shop, dump, "")
    }

    /// The same, with a dump from elsewhere: its objects were in this folder.
    pub fn read_from(shop: &Workshop, dump: &str, folder: &str) -> Self {
        let dump = Dump::parse(&shop.read(dump)).unwrap();
        let [module] = &dump.modules[..] else { panic!("{} modules", dump.modules.len()) };
        let notes = |object: &countersink::raw::dump::Object| {
            let path = std::str::from_utf8(&object.path).unwrap();
            shop.read(path.strip_prefix(folder).unwrap().replace(".gcda", ".gcno"))
        };
        let notes = module.objects.iter().map(notes).collect();
        Self { dump, notes }
    }

    /// Makes a profile of it, with the help of this program or object.
    pub fn profile(&self, program: &[u8], reader: Reader) -> (Profile, Statistics) {
        let notes: Vec<Notes<'_>> =
            self.notes.iter().map(|bytes| Notes::decode(bytes).unwrap()).collect();
        let chosen = [(0..notes.len()).map(Some).collect()];
        let (profile, statistics) =
            gcov::profile(&self.dump, &notes, &chosen, &Code { program }, &Alone, reader);
        assert!(statistics.faults.is_empty(), "{:#?}", statistics.faults);
        (profile, statistics)
    }
}
