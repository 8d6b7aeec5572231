//! The order in which a linker should place functions, so that runs read few pages until they have started.
//!
//! Functions that the same runs call stand together. Those of more runs come first, and within a group the order is
//! that of the mean place in the runs:
//!
//! ```text
//! main a b      main in both, a in both, b in one, c in one      main a b c
//! main a c
//! ```
//!
//! LLVM's own tool divides the functions in two again and again, so that each half shares pages. Its order differs.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::Trace;

/// What the traces say of a function.
#[derive(Default)]
struct Calls {
    /// The sum of the weights of the traces that have it.
    weight: u64,
    /// The traces that have it.
    traces: Vec<usize>,
    /// The sum of its places, each times its trace's weight.
    places: u128,
}

/// The functions of the traces, each once. A trace without weight counts like one of weight 1.
pub fn order(traces: &[Trace]) -> Vec<u64> {
    let mut calls = HashMap::<u64, Calls>::new();
    for (number, trace) in traces.iter().enumerate() {
        let weight = trace.weight.max(1);
        for (place, &function) in trace.functions.iter().enumerate() {
            let calls = calls.entry(function).or_default();
            if calls.traces.last() == Some(&number) {
                continue;
            }
            calls.traces.push(number);
            calls.weight = calls.weight.saturating_add(weight);
            calls.places += u128::from(weight) * place as u128;
        }
    }
    let mut functions: Vec<(u64, Calls)> = calls.into_iter().collect();
    functions.sort_by(|(a_name, a), (b_name, b)| {
        b.weight
            .cmp(&a.weight)
            .then_with(|| a.traces.cmp(&b.traces))
            // The weights are the same, so the sums compare as the means do.
            .then_with(|| a.places.cmp(&b.places))
            .then_with(|| a_name.cmp(b_name))
    });
    functions.into_iter().map(|(function, _)| function).collect()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn traces(all: &[&[u64]]) -> Vec<Trace> {
        all.iter().map(|functions| Trace { weight: 1, functions: functions.to_vec() }).collect()
    }

    #[test]
    fn one_trace_keeps_its_order() {
        assert_eq!(order(&traces(&[&[5, 3, 9, 1]])), [5, 3, 9, 1]);
    }

    #[test]
    fn functions_of_more_runs_come_first_and_groups_stay_together() {
        let all = traces(&[&[1, 8, 7, 6], &[1, 2, 3, 8], &[1, 8, 7, 2]]);
        assert_eq!(order(&all), [1, 8, 7, 2, 6, 3]);
    }

    #[test]
    fn a_heavy_trace_outweighs_others() {
        let heavy = Trace { weight: 5, functions: vec![4, 2] };
        let light = traces(&[&[2, 3], &[3, 2]]);
        assert_eq!(order(&[&[heavy][..], &light].concat()), [2, 4, 3]);
    }

    #[test]
    fn no_traces_and_repeated_functions() {
        assert!(order(&[]).is_empty());
        assert_eq!(order(&traces(&[&[1, 1, 2, 2]])), [1, 2]);
    }
}
