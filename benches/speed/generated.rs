//! Notes and dump of a program too large to be compiled here: copies of one object of the large
//! program that gcc has compiled and that has run, under other names.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use countersink::convert::gcov::names::ident;
use countersink::formats::gcno::Notes;
use countersink::raw::dump::{Dump, FunctionView, Module, Object, SiteView, Values};
use countersink::raw::gcov::FunctionRecord;
use countersink::raw::head::{Head, NumbersWriter};
use countersink::raw::layout::{
    MAX_SECTION, ModuleRecord, SectionKind, Signature, SumsRecord, Word,
};
use countersink::raw::object::ObjectRecord;
use countersink::raw::site::{LISTED_SITE, SiteHead};
use countersink::raw::writer::Writer;
use zerocopy::IntoBytes;

use crate::harness::Workshop;
use crate::program::{FUNCTIONS, object_source};

/// Number of the object that is copied. The numbers of the copies have as many digits.
const FIRST: usize = 100_000;

/// The object that is copied.
struct Template {
    notes: Vec<u8>,
    dump: Dump,
    /// Names of its functions, and where the notes have their idents.
    idents: Vec<(String, usize)>,
}

/// Writes notes and `dump.csraw` of a program with this many functions to a folder.
pub fn write(directory: &Path, functions: usize) {
    let template = Template::compile();
    let objects = FIRST..FIRST + functions.div_ceil(FUNCTIONS + 1);
    fs::create_dir_all(directory).unwrap();
    for number in objects.clone() {
        let path = directory.join(format!("o{number}.gcno"));
        fs::write(path, template.notes(number)).unwrap();
    }
    let copies: Vec<Copy> = objects.map(|number| template.copy(number, directory)).collect();
    fs::write(directory.join("dump.csraw"), template.dump(&copies)).unwrap();
}

/// A copy of the object: the path of its data file, and the new idents by the old ones.
struct Copy {
    path: Vec<u8>,
    idents: HashMap<u32, u32>,
}

impl Copy {
    fn head(&self, view: &FunctionView<'_>) -> Vec<Word> {
        let record = FunctionRecord {
            ident: self.idents[&view.ident()],
            lineno_checksum: view.lineno_checksum(),
            cfg_checksum: view.cfg_checksum(),
            flags: 0,
        };
        let (mut numbers, mut head) =
            (NumbersWriter::behind(FunctionRecord::WORDS), Head::default());
        for (kind, values) in view.kinds() {
            let number = match values {
                Values::Counters(counters) => counters.len(),
                Values::Sites(sites) => sites.len() * LISTED_SITE,
            };
            numbers.add(kind, number as u32, &mut head);
        }
        let used = record.finish(numbers, &mut head);
        head[..used].to_vec()
    }

    /// The words of a site.
    fn site(&self, site: &SiteView<'_>, mut put: impl FnMut(i64)) {
        let head = SiteHead::new(site.pairs.len(), site.error);
        put(site.total);
        put(head.to_word());
        if head.has_error {
            put(site.error);
        }
        for pair in site.pairs {
            put(self.value(pair.value));
            put(pair.count);
        }
    }

    /// What a site has seen: functions of the same object, or something else.
    fn value(&self, value: i64) -> i64 {
        let known = u32::try_from(value).ok().and_then(|value| self.idents.get(&value));
        known.map_or(value, |&ident| ident.into())
    }
}

impl Template {
    fn compile() -> Self {
        let shop = Workshop::new();
        let name = format!("o{FIRST}");
        shop.write(&format!("{name}.c"), object_source(FIRST, FUNCTIONS));
        shop.write("main.c", format!("int {name}(int); int main(void) {{ return !{name}(7); }}"));
        let object = shop.compile(&format!("{name}.c"), &[]);
        shop.gcc(&["-c", "main.c"]);
        shop.link(&[&object, "main.o"], "ours", &[]);
        shop.run("ours", &[]);
        let notes = shop.read(format!("{name}.gcno"));
        let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
        let decoded = Notes::decode(&notes).unwrap();
        let idents = decoded.functions.iter().map(|function| {
            let name = String::from_utf8(function.name.to_vec()).unwrap();
            assert_eq!(ident(name.as_bytes()), function.ident, "{name}");
            (name, ident_place(&notes, function.ident))
        });
        let idents = idents.collect();
        Self { notes, dump, idents }
    }

    fn module(&self) -> (&Module, &Object) {
        let [module] = &self.dump.modules[..] else { panic!("expected one module") };
        (module, &module.objects[0])
    }

    fn copy(&self, number: usize, directory: &Path) -> Copy {
        let path: PathBuf = directory.join(format!("o{number}.gcda"));
        let idents = self.idents.iter().map(|(name, _)| {
            (ident(name.as_bytes()), ident(renamed(name.as_bytes(), number).as_slice()))
        });
        Copy { path: path.into_os_string().into_encoded_bytes(), idents: idents.collect() }
    }

    fn notes(&self, number: usize) -> Vec<u8> {
        let mut notes = renamed(&self.notes, number);
        for (name, place) in &self.idents {
            let ident = ident(&renamed(name.as_bytes(), number));
            notes[*place..place + 4].copy_from_slice(&ident.to_ne_bytes());
        }
        notes
    }

    /// The dump of a program that consists of copies.
    fn dump(&self, copies: &[Copy]) -> Vec<u8> {
        let (module, object) = self.module();
        let views: Vec<FunctionView<'_>> = module.functions(object).collect();
        let mut buffer = Box::new([0; MAX_SECTION]);
        let mut writer = Writer::new(Vec::new(), &mut buffer);
        let Ok(()) = writer.put_record(SectionKind::Module, &self.record(&views, copies));
        let each = copies.iter().flat_map(|copy| views.iter().map(move |view| (copy, view)));
        for copy in copies {
            let Ok(()) = writer.put(SectionKind::Strings, &copy.path);
        }
        let mut paths = 0;
        for copy in copies {
            let record = object_record(object, views.len(), copy, paths);
            paths += copy.path.len() as u32;
            let Ok(()) = writer.put_record(SectionKind::Objects, &record);
        }
        let (mut counters, mut sites) = (0, 0);
        for (copy, view) in each {
            let Ok(()) = writer.put(SectionKind::Functions, copy.head(view).as_bytes());
            for (_, values) in view.kinds() {
                let of_sites = match values {
                    Values::Counters(values) => {
                        counters += values.len() as u64;
                        let Ok(()) = writer.put(SectionKind::Functions, values.as_bytes());
                        continue;
                    }
                    Values::Sites(of_sites) => of_sites,
                };
                sites += of_sites.len() as u64;
                for site in of_sites {
                    copy.site(&site, |word| {
                        let Ok(()) = writer.put_word(SectionKind::Functions, word);
                    });
                }
            }
        }
        let sums = SumsRecord { sums: module.sums, counters, sites };
        let Ok(()) = writer.put_record(SectionKind::Sums, &sums);
        let Ok(bytes) = writer.finish();
        bytes
    }

    fn record(&self, views: &[FunctionView<'_>], copies: &[Copy]) -> ModuleRecord {
        let (module, object) = self.module();
        let mut record = module.record;
        let mut signature = Signature::of(&record.identity);
        let mut paths = 0;
        for copy in copies {
            signature.object(&object_record(object, views.len(), copy, paths), &copy.path);
            paths += copy.path.len() as u32;
        }
        assert!(
            !record.identity.build_id().is_empty(),
            "the signature would be one of all functions"
        );
        record.identity.signature = signature.value();
        record.identity.objects = copies.len() as u32;
        record.identity.functions = (copies.len() * views.len()) as u32;
        record.path_length = 0;
        record.strings_length = paths;
        record
    }
}

fn object_record(object: &Object, functions: usize, copy: &Copy, path_offset: u32) -> ObjectRecord {
    ObjectRecord {
        version: object.version.0,
        stamp: object.stamp,
        checksum: object.checksum,
        functions: functions as u32,
        rules: object.rules.0,
        path_offset,
        path_length: copy.path.len() as u32,
    }
}

/// Where a function's record has this ident, behind tag and length.
fn ident_place(notes: &[u8], ident: u32) -> usize {
    const FUNCTION: [u8; 4] = 0x0100_0000_u32.to_ne_bytes();
    let is_it = |record: &[u8]| record[..4] == FUNCTION && record[8..] == ident.to_ne_bytes();
    8 + notes.windows(12).position(is_it).unwrap()
}

/// These bytes with the number of the object replaced.
fn renamed(bytes: &[u8], number: usize) -> Vec<u8> {
    let (old, new) = (format!("o{FIRST}"), format!("o{number}"));
    assert_eq!(old.len(), new.len());
    let mut bytes = bytes.to_vec();
    let mut place = 0;
    while let Some(found) = bytes[place..].windows(old.len()).position(|w| w == old.as_bytes()) {
        place += found;
        bytes[place..place + new.len()].copy_from_slice(new.as_bytes());
        place += new.len();
    }
    bytes
}
