//! Which function the value of an indirect call stands for.

use hashbrown::HashMap;

use crate::counters::name_ref;
use crate::formats::profraw::names::Names;
use crate::raw::dump::{Dump, Object};
use crate::raw::llvm::Target;

/// The functions of all modules that can be targets.
pub struct Targets {
    /// Number of the name, by module and offset.
    here: HashMap<(usize, u64), u64>,
    /// Number of the name, by what another image keeps of it.
    there: HashMap<u64, u64>,
    /// The same for virtual tables.
    tables: HashMap<u64, u64>,
}

impl Targets {
    /// The functions of a dump.
    pub fn of(dump: &Dump) -> Self {
        let mut targets =
            Self { here: HashMap::new(), there: HashMap::new(), tables: HashMap::new() };
        for (number, module) in
            dump.modules.iter().enumerate().filter(|(_, module)| module.is_llvm())
        {
            for object in &module.objects {
                targets.add_tables(object);
                for record in module.functions(object).filter_map(|view| view.llvm()) {
                    targets.there.insert(record.name_ref & Target::KEPT, record.name_ref);
                    if record.offset != 0 {
                        targets.here.insert((number, record.offset), record.name_ref);
                    }
                }
            }
        }
        targets
    }

    /// Adds the virtual tables of an object without functions, which has their names.
    fn add_tables(&mut self, object: &Object) {
        if object.version.0 == 0
            && let Ok(names) = Names::read(&object.path)
        {
            let names = names.iter().map(name_ref);
            self.tables.extend(names.map(|name_ref| (name_ref & Target::KEPT, name_ref)));
        }
    }

    /// The number of the name that a value stands for at a site of virtual tables, 0 if that is not known.
    pub fn table(&self, value: i64) -> u64 {
        match Target::from_value(value) {
            Target::There(name_ref) => self.tables.get(&name_ref).copied().unwrap_or(0),
            Target::Here(_) | Target::Unknown => 0,
        }
    }

    /// The number of the name that a value at a site of this module stands for, 0 if that is not known.
    pub fn name_ref(&self, module: usize, value: i64) -> u64 {
        let name_ref = match Target::from_value(value) {
            Target::Here(offset) => self.here.get(&(module, offset)),
            Target::There(name_ref) => self.there.get(&name_ref),
            Target::Unknown => None,
        };
        name_ref.copied().unwrap_or(0)
    }
}
