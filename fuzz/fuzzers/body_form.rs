#![no_main]

#[path = "../targets/paths.rs"]
#[allow(dead_code, reason = "each fuzzer runs one of the targets")]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::body_form(input));
