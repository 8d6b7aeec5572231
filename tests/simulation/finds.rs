//! Small scenarios in which counts were lost once. Seeds do not keep them: another generator makes other scenarios.

use crate::builds::Build;
use crate::scenario::{End, FILE, Old, Operation, Process, Root, Scenario, Step};

/// What a process of each of these builds does before it ends by this call, and whether the file may not grow.
struct Find {
    builds: &'static [&'static str],
    operations: &'static [Operation],
    end: &'static str,
}

const CALL: Operation = Operation::Count { image: 0, function: 2, path: 0, times: 8, threads: 0 };

const FINDS: [Find; 3] = [
    // With live counters a flush only marks what is in the file. A reset forgot that, too.
    Find {
        builds: &["gcc-live", "clang-live", "old-clang-live"],
        operations: &[CALL, Operation::Flush, CALL, Operation::Reset],
        end: "exit",
    },
    // Going back to what a flush had marked lost the targets of indirect calls.
    Find {
        builds: &["gcc-live", "clang-live", "old-clang-live"],
        operations: &[CALL, Operation::Flush, CALL, Operation::Discard, CALL],
        end: "exit",
    },
    // The message said that the counts stay in memory.
    Find {
        builds: &["gcc", "clang"],
        operations: &[CALL, Operation::Limit(100)],
        end: "quick_exit",
    },
];

/// All of them, for the builds that there are.
pub fn scenarios(builds: &[Build]) -> Vec<Scenario> {
    let with_builds =
        FINDS.iter().flat_map(|find| find.builds.iter().map(move |name| (find, name)));
    let scenario = |(find, name): (&Find, &&str)| {
        let build = builds.iter().position(|build| build.name == *name)?;
        Some(find.scenario(build))
    };
    with_builds.filter_map(scenario).collect()
}

impl Find {
    fn scenario(&self, build: usize) -> Scenario {
        let step = |operation: &Operation| Step { fault: None, operation: operation.clone() };
        let process = |operations: &[Operation], call| Process {
            build,
            steps: operations.iter().map(step).collect(),
            end: End::Exit { call, status: 0 },
            end_fault: None,
        };
        let root = |process| vec![Root { process, kill: 0, file: FILE }];
        Scenario {
            seed: 0,
            old: Old::Nothing,
            on_signal: false,
            is_absolute: false,
            is_folded: false,
            processes: vec![process(self.operations, self.end), process(&[], "exit")],
            waves: vec![root(0), root(1)],
            last_waves: 1,
        }
    }
}
