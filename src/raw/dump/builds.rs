//! Finds the module of a build among many, as a dump of a fleet may have tens of thousands.

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Module;

/// The places of modules in a list, by build. The list only grows.
#[derive(Clone, Debug, Default)]
pub struct Builds {
    places: HashTable<usize>,
    hasher: DefaultHashBuilder,
}

impl Builds {
    /// The place of the first module of this build. If there is none, the module is to have the place `free`. `at`
    /// gives the modules that have places.
    pub fn place_or<'m>(
        &mut self,
        module: &'m Module,
        free: usize,
        at: impl Fn(usize) -> &'m Module,
    ) -> Option<usize> {
        let Self { places, hasher } = self;
        let hash = |module: &Module| hasher.hash_one(module.record.identity);
        let key = hash(module);
        if let Some(&place) = places.find(key, |&place| at(place).is_same_build(module)) {
            return Some(place);
        }
        places.insert_unique(key, free, |&place| {
            hash(if place == free { module } else { at(place) })
        });
        None
    }
}
