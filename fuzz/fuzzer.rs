//! One fuzzer for all targets: `FUZZ_TARGET` names the one to run. A binary for each would link the
//! server ten times.
#![no_main]

use std::sync::LazyLock;

use fuzz_targets::TARGETS;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    match TARGETS.iter().find(|(target, _)| *target == name) {
        Some((_, target)) => *target,
        None => panic!("FUZZ_TARGET is {name:?}, which is no target: {:?}", TARGETS.map(|(target, _)| target)),
    }
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET(input));
