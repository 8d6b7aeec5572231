//! Puts a module together from counts that another runtime wrote.

use alloc::vec::Vec;

use super::{Dump, Function, Module, Object, SiteSpan};
use crate::raw::gcov::{FunctionRecord, Version};
use crate::raw::head::Head;
use crate::raw::kind::{Kind, Rule, Rules};
use crate::raw::layout::{
    ABI_GCOV, BUILD_ID_CAPACITY, Identity, Machine, ModuleRecord, Signature, Sums,
};
use crate::raw::merge::Site;

/// An object that gcc instrumented, for [`Module::of_objects`].
#[derive(Clone, Debug)]
pub struct NewObject {
    /// Path of its `.gcda` file.
    pub path: Vec<u8>,
    /// Compiler that made it.
    pub version: Version,
    /// Time of compilation, equal in its `.gcno` file.
    pub stamp: u32,
    /// Checksum over its functions.
    pub checksum: u32,
    /// Its functions.
    pub functions: Vec<NewFunction>,
}

/// A function of a [`NewObject`].
#[derive(Clone, Debug)]
pub struct NewFunction {
    /// Its identity. Kinds in the flags do not count.
    pub record: FunctionRecord,
    /// Its counts, ascending by kind.
    pub counts: Vec<(Kind, Counts)>,
}

/// Counts of one kind.
#[derive(Clone, Debug)]
pub enum Counts {
    /// Plain counters, and how two runs' become one.
    Plain(Rule, Vec<i64>),
    /// Top-N sites.
    Sites(Vec<Site>),
}

impl Counts {
    const fn rule(&self) -> Rule {
        match self {
            Self::Plain(rule, _) => *rule,
            Self::Sites(_) => Rule::TopN,
        }
    }

    const fn number(&self) -> usize {
        match self {
            Self::Plain(_, counters) => counters.len(),
            Self::Sites(sites) => sites.len(),
        }
    }
}

impl Module {
    /// A module of an image that nobody knows: it has neither a path nor a build-id.
    pub fn of_objects(machine: Machine, sums: Sums, objects: Vec<NewObject>) -> Self {
        let identity = Identity {
            abi: ABI_GCOV,
            build_id_length: 0,
            build_id: [0; BUILD_ID_CAPACITY],
            signature: 0,
            objects: objects.len() as u32,
            functions: objects.iter().map(|object| object.functions.len() as u32).sum(),
        };
        let mut module = Self {
            record: ModuleRecord { identity, path_length: 0, strings_length: 0 },
            machine,
            sums,
            path: Vec::new(),
            objects: Vec::with_capacity(objects.len()),
            functions: Vec::with_capacity(identity.functions as usize),
            llvm: Vec::new(),
            numbers: Vec::new(),
            counters: Vec::new(),
            sites: Vec::new(),
            pairs: Vec::new(),
        };
        objects.into_iter().for_each(|object| module.add(object));
        module.record.identity.signature = module.signature();
        module
    }

    fn add(&mut self, object: NewObject) {
        let NewObject { path, version, stamp, checksum, functions } = object;
        let counts = functions.iter().flat_map(|function| &function.counts);
        let rules = counts.fold(Rules::default(), |rules, (kind, of)| match rules.rule(*kind) {
            Some(_) => rules,
            None => rules.with(*kind, of.rule()),
        });
        let first = self.functions.len();
        functions.into_iter().for_each(|function| self.add_function(rules, function));
        let functions = first..self.functions.len();
        self.objects.push(Object { path, version, stamp, checksum, rules, functions });
    }

    fn add_function(&mut self, rules: Rules, function: NewFunction) {
        let NewFunction { mut record, counts } = function;
        record.flags &= FunctionRecord::ABSENT;
        let (numbers, counters, sites) =
            (self.numbers.len(), self.counters.len(), self.sites.len());
        for (kind, counts) in counts {
            if counts.number() == 0 {
                continue;
            }
            record.flags |= kind.bit();
            self.numbers.push(counts.number() as u32);
            match counts {
                Counts::Plain(_, counters) => self.counters.extend(counters),
                Counts::Sites(sites) => sites.iter().for_each(|site| self.add_site(site)),
            }
        }
        self.functions.push(Function { record, rules, numbers, counters, sites });
    }

    fn add_site(&mut self, site: &Site) {
        let first = self.pairs.len();
        self.pairs.extend(&site.pairs);
        let pairs = first..self.pairs.len();
        self.sites.push(SiteSpan { total: site.total, error: site.error, pairs });
    }

    /// The signature of a module without a build-id.
    fn signature(&self) -> u64 {
        let mut signature = Signature::of(&self.record.identity);
        for object in &self.objects {
            signature.object(&object.record(0), &object.path);
            for view in self.functions(object) {
                let mut head = Head::default();
                let used = view.put_head(object.version, &mut head);
                head[..used].iter().for_each(|word| signature.word(u64::from_ne_bytes(*word)));
            }
        }
        signature.value()
    }
}

impl FromIterator<Module> for Dump {
    fn from_iter<M: IntoIterator<Item = Module>>(modules: M) -> Self {
        Self { modules: modules.into_iter().collect(), ..Self::default() }
    }
}
