#![no_main]

#[path = "../targets/guard.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::normalise(input));
