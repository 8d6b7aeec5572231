//! Large sample profiles of LLVM: what is refused, and that no order of records costs more than another.

use std::time::Duration;

use countersink::formats::llvm_sample_text;
use countersink::profile::DEEPEST;
use countersink::samples::Samples;

fn samples(text: &[u8]) -> Samples {
    llvm_sample_text::decode::decode(text).unwrap().samples
}

/// Each inlined copy in a deep chain becomes a context with as many frames as its level. `split` refuses this number
/// of frames.
#[test]
#[ignore = "slow"]
fn too_many_frames() {
    let mut text = String::new();
    for function in 0..40 {
        text += &format!("f{function}:1:1\n");
        (1..=DEEPEST).for_each(|level| text += &format!("{:level$}1: f:1\n", ""));
    }
    let mut samples = samples(text.as_bytes());
    assert!(samples.split().is_err());
}

/// Processor time to read a text and to make a profile of it.
fn cost(text: &str) -> Duration {
    let used = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap()
    };
    let before = used();
    samples(text.as_bytes()).into_profile().unwrap();
    used() - before
}

/// Positions cost the same in any order, and in any number of bodies.
#[test]
#[ignore = "slow"]
fn any_order() {
    const NUMBER: u32 = 200_000;
    let site = |at: u32| format!("{}.{}", at % 1000, at / 1000);
    let all = |line: &dyn Fn(u32) -> String| (0..NUMBER).rev().map(line).collect::<String>();
    let ascending = (0..NUMBER).map(|at| format!(" {}.{}: 1\n", at / 200, at % 200));
    let ascending = "f:1:1\n".to_owned() + &ascending.collect::<String>();
    let targets = all(&|at| format!(" f{at}:1"));
    let forwards = (0..NUMBER).map(|at| format!(" f{at}:1")).collect::<String>();
    let most = 10 * cost(&ascending) + Duration::from_secs(2);
    for (what, text) in [
        ("positions", "f:1:1\n".to_owned() + &all(&|at| format!(" {}: 1\n", site(at)))),
        ("copies", "f:1:1\n".to_owned() + &all(&|at| format!(" {}: g:1\n", site(at)))),
        ("one position", "f:1:1\n".to_owned() + &all(&|_| " 1: 1\n".into())),
        ("functions", all(&|at| format!("f:1:1\n {}: 1\n", site(at)))),
        ("copies of a place", {
            "f:1:1\n".to_owned() + &all(&|at| format!(" 1: g:1\n  {}: 1\n", site(at)))
        }),
        ("targets", format!("f:1:1\n 0: 1{forwards}\n 1: 1{targets}\n")),
        ("contexts", all(&|at| format!("[f:{} @ g]:1:1\n 1: 1\n", site(at)))),
        ("discriminators of 32 bits", {
            "f:1:1\n".to_owned()
                + &all(&|at| format!(" {}.{}: 1\n", at >> 16, at << 16 | at & 0xffff))
        }),
    ] {
        let cost = cost(&text);
        assert!(cost < most, "{what}: {cost:?}, more than {most:?}");
    }
}
