//! `--to gcda`: counter files of gcc, one per object.

use std::path::PathBuf;
use std::prelude::v1::*;

use rayon::prelude::*;

use super::Convert;
use crate::cli::cores::Cores;
use crate::cli::inputs::input::Input;
use crate::cli::inputs::notes::display;
use crate::cli::inputs::sources::added;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::gcda::{Place, Ready};
use crate::cli::outputs::output::Out;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::convert::gcov;
use crate::convert::gcov::gcda::{Build, ObjectCounts};
use crate::convert::number::Number;
use crate::workers::Workers;

impl Convert {
    /// Writes counter files of gcc.
    pub(super) fn gcda(&self) -> Result<Outcome> {
        self.write_gcda(self.read(&self.paths()?)?)?;
        Ok(Outcome::Done)
    }

    fn write_gcda(&self, inputs: Vec<Input>) -> Result<()> {
        if self.output.is_some() {
            return Err(Error::new(
                "--to gcda writes many files; choose their place with --prefix",
            ));
        }
        let dump = added(inputs)?;
        let places = &self.sources.places;
        let objects = gcov::gcda::objects(&dump, |path, builds| places.fitting(path, builds));
        let objects: Vec<_> = objects.into_iter().collect();
        if objects.is_empty() {
            return Err(Error::new("--to gcda: no objects of gcc in these dumps"));
        }
        let prefix = self.prefix.as_ref().map(|prefix| prefix.as_os_str().as_encoded_bytes());
        let ready = Cores.map(&objects, |(recorded, object)| {
            let moved = self.sources.places.moved(recorded);
            let place = Place::of(&moved, prefix, self.strip)?;
            Ready::new(place, &|out| object.write_to(Out(out)))
        });
        self.put_in_place(ready.into_iter().collect::<Result<_>>()?)?;
        self.warn_of_builds(&objects);
        let files = Number(objects.len() as u64, ".gcda file");
        let mut line = format!("{files} written");
        let left_out = objects.iter().map(|(_, object)| object.left_out.len() as u64).sum();
        if left_out > 0 {
            let left_out = Number(left_out, "object");
            line += &format!("; {left_out} left out: other builds have the same files");
        }
        let dropped = dump.modules.iter().map(|module| module.sums.dropped);
        let dropped = dropped.fold(0, u64::saturating_add);
        if dropped > 0 {
            let dropped = Number(dropped, "event");
            line += &format!("; {dropped} without room in the runtime");
        }
        say(line);
        Ok(())
    }

    /// Warns of files that may have the counts of another build than their user wants.
    fn warn_of_builds(&self, objects: &[(&[u8], ObjectCounts<'_>)]) {
        let is_open = |(_, object): &&(&[u8], ObjectCounts<'_>)| {
            !object.left_out.is_empty() && !object.fits_notes
        };
        let told = if self.sources.verbose { usize::MAX } else { 1 };
        for (recorded, object) in objects.iter().filter(is_open).take(told) {
            let build = |build: &Build<'_>| {
                let program = display(build.program()).display();
                let runs = Number(build.runs(), "run");
                format!("stamp {:#010x}, {runs} of {program}", build.stamp())
            };
            let others: Vec<String> = object.left_out.iter().map(build).collect();
            let what = format!(
                "no notes say which build is wanted; written: {}; left out: {}; name the notes with --notes DIR, or \
                 keep one build with `countersink merge FILE --build PROGRAM -o FILE`",
                build(object.build()),
                others.join("; ")
            );
            warn(display(recorded), what);
        }
    }

    /// Puts files in their places when all of them are ready.
    fn put_in_place(&self, files: Vec<Ready>) -> Result<()> {
        let all = files.len();
        let written: Vec<Result<PathBuf>> = files.into_par_iter().map(Ready::put).collect();
        if self.sources.verbose {
            let written = written.iter().flatten();
            written.for_each(|place| say(place.display()));
        }
        let number = written.iter().flatten().count();
        match written.into_iter().find_map(Result::err) {
            Some(error) => Err(Error::new(format!("{error}; {number} of {all} files written"))),
            None => Ok(()),
        }
    }
}
