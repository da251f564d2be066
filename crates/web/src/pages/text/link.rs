//! Addresses with parameters.

use std::fmt::Write;

/// `path` with the `parameters` that have a value.
pub(in crate::pages) fn link(path: &str, parameters: &[(&str, Option<String>)]) -> String {
    let mut address = path.to_owned();
    let given = parameters.iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    for (number, (name, value)) in given.enumerate() {
        let mark = if number == 0 { '?' } else { '&' };
        let _ = write!(address, "{mark}{name}={}", encoded(value));
    }
    address
}

/// `text` encoded for a query.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_without_a_value_are_left_out_and_the_others_encoded() {
        let given = |text: &str| Some(text.to_owned());
        let parameters = [("a", given("x y&z=ä")), ("b", None), ("c", given("2026-11-18T00:00:00Z"))];
        assert_eq!(link("/x", &parameters), "/x?a=x%20y%26z%3D%C3%A4&c=2026-11-18T00%3A00%3A00Z");
        assert_eq!(link("/x", &[("b", None)]), "/x");
    }
}
