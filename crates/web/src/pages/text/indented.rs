//! JSON with line breaks and indents, so that people can read it. Its values do not change, because
//! it is shown as evidence.

/// `text` indented if it looks like JSON, otherwise unchanged.
pub(in crate::pages) fn indented(text: String) -> String {
    if !text.trim_start().starts_with(['{', '[']) {
        return text;
    }
    let mut shown = Indented::default();
    text.chars().for_each(|character| shown.push(character));
    shown.text
}

#[derive(Default)]
struct Indented {
    text: String,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Whether a bracket was opened and nothing followed yet.
    is_empty: bool,
}

impl Indented {
    fn push(&mut self, character: char) {
        if self.in_string {
            self.in_string = character != '"' || self.is_escaped;
            self.is_escaped = character == '\\' && !self.is_escaped;
            self.text.push(character);
            return;
        }
        match character {
            ' ' | '\t' | '\r' | '\n' => return,
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                if !self.is_empty {
                    self.end_line();
                }
            }
            _ if self.is_empty => self.end_line(),
            _ => {}
        }
        self.text.push(character);
        self.is_empty = matches!(character, '{' | '[');
        self.in_string = character == '"';
        match character {
            '{' | '[' => self.depth += 1,
            ',' => self.end_line(),
            ':' => self.text.push(' '),
            _ => {}
        }
    }

    fn end_line(&mut self) {
        // Deeper levels are unreadable: every line would be mostly white space.
        let depth = self.depth.min(20);
        self.text.push('\n');
        (0..depth).for_each(|_| self.text.push_str("  "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_its_values_stay() {
        let check = |text: &str, expected: &str| assert_eq!(indented(text.to_owned()), expected);
        check(
            r#"{"a":[1,2.50],"b":{},"c":"x, \"y\": {z}\\"}"#,
            "{\n  \"a\": [\n    1,\n    2.50\n  ],\n  \"b\": {},\n  \"c\": \"x, \\\"y\\\": {z}\\\\\"\n}",
        );
        check("{ \"n\" : 12345678901234567890 }", "{\n  \"n\": 12345678901234567890\n}");
        check("data: {\"a\":1}\n\n", "data: {\"a\":1}\n\n");
        check("[]", "[]");
        check("{\"broken", "{\n  \"broken");
    }
}
