//! From a [`Dump`] to the bytes of a file.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;

use zerocopy::IntoBytes;

use super::{Dump, Function, Module};
use crate::raw::gcov::record::{FIXED_SITE, LISTED_SITE, SiteHead};
use crate::raw::gcov::{FunctionRecord, ObjectRecord, Rule, Version};
use crate::raw::layout::{MAX_SECTION, SectionKind};
use crate::raw::writer::{Sink, Writer};

impl Sink for Vec<u8> {
    type Error = Infallible;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

impl Dump {
    /// The dump as a file, equal to what a runtime would have written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut buffer = Box::new([0; MAX_SECTION]);
        let mut writer = Writer::new(Vec::new(), &mut buffer);
        for module in &self.modules {
            let Ok(()) = module.write(&mut writer);
        }
        let Ok(bytes) = writer.finish_with(self.last_live);
        bytes
    }
}

impl Module {
    fn write<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        let mut record = self.record;
        record.path_length = self.path.len() as u32;
        let paths: usize = self.objects.iter().map(|object| object.path.len()).sum();
        record.strings_length = (self.path.len() + paths) as u32;
        writer.put_record(SectionKind::Module, &record)?;
        self.write_strings(writer)?;
        self.write_objects(writer)?;
        self.write_functions(writer)?;
        writer.put(SectionKind::Counters, self.counters.as_bytes())?;
        self.write_sites(writer)
    }

    fn write_strings<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        writer.put(SectionKind::Strings, &self.path)?;
        self.objects.iter().try_for_each(|object| writer.put(SectionKind::Strings, &object.path))
    }

    fn write_objects<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        let mut path_offset = self.path.len() as u32;
        for object in &self.objects {
            let path_length = object.path.len() as u32;
            let record = ObjectRecord {
                version: object.version.0,
                stamp: object.stamp,
                checksum: object.checksum,
                functions: object.functions.len() as u32,
                rules: object.rules.0,
                path_offset,
                path_length,
            };
            writer.put_record(SectionKind::Objects, &record)?;
            path_offset += path_length;
        }
        Ok(())
    }

    fn write_functions<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        for object in &self.objects {
            for function in self.functions.get(object.functions.clone()).unwrap_or_default() {
                function.write(object.version, writer)?;
            }
        }
        Ok(())
    }

    fn write_sites<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        for site in &self.sites {
            let pairs = self.pairs.get(site.pairs.clone()).unwrap_or_default();
            let head = SiteHead::new(pairs.len(), site.error);
            writer.put(SectionKind::TopN, [site.total, head.to_word()].as_bytes())?;
            if head.has_error {
                writer.put_word(SectionKind::TopN, site.error)?;
            }
            for pair in pairs {
                writer.put(SectionKind::TopN, [pair.value, pair.count].as_bytes())?;
            }
        }
        Ok(())
    }
}

impl Function {
    fn write<S: Sink>(&self, version: Version, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        let record = FunctionRecord {
            ident: self.ident,
            lineno_checksum: self.lineno_checksum,
            cfg_checksum: self.cfg_checksum,
            flags: if self.absent { FunctionRecord::ABSENT } else { 0 },
        };
        writer.put_record(SectionKind::Functions, &record)?;
        let site = if version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE } as u32;
        for (kind, rule) in self.rules.iter() {
            let count = self.counts[usize::from(kind.0)];
            let number = if rule == Rule::TopN { count * site } else { count };
            writer.put_record(SectionKind::Functions, &number)?;
        }
        let padding = if self.rules.count().is_multiple_of(2) { 0 } else { 4 };
        writer.put(SectionKind::Functions, &[0; 4][..padding])
    }
}
