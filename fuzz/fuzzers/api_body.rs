#![no_main]

#[path = "../targets/api.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::api_body(input));
