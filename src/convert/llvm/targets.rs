//! Which function the value of an indirect call stands for.

use hashbrown::HashMap;

use crate::raw::dump::Dump;
use crate::raw::llvm::Target;

/// The functions of all modules that can be targets.
pub struct Targets {
    /// Number of the name, by module and offset.
    here: HashMap<(usize, u64), u64>,
    /// Number of the name, by what another image keeps of it.
    there: HashMap<u64, u64>,
}

impl Targets {
    /// The functions of a dump.
    pub fn of(dump: &Dump) -> Self {
        let mut targets = Self { here: HashMap::new(), there: HashMap::new() };
        for (number, module) in
            dump.modules.iter().enumerate().filter(|(_, module)| module.is_llvm())
        {
            for object in &module.objects {
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
