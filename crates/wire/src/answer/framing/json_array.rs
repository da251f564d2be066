//! Splits a stream that is one JSON array into its elements. Gemini sends this form unless the
//! client asks for events.

/// The largest element that is read, in bytes. Larger ones are skipped.
const MAX_ELEMENT: usize = 1 << 20;

/// Splits an array of objects.
#[derive(Debug, Default)]
pub(crate) struct ArrayParser {
    /// The bytes of the current element.
    element: Vec<u8>,
    /// The element's length so far, kept or not.
    size: usize,
    /// The number of open brackets, including the array's own.
    depth: usize,
    in_string: bool,
    after_backslash: bool,
    /// The last byte that is neither white space nor inside a string.
    newest: u8,
    ended: bool,
}

impl ArrayParser {
    /// Reads the next bytes and reports every element that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut on_element: impl FnMut(&[u8])) {
        // Where the current element starts in these bytes.
        let mut start = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let was_inside = self.depth > 1;
            self.step(*byte);
            match (was_inside, self.depth > 1) {
                (false, true) => start = at,
                (true, false) => {
                    self.buffer(&bytes[start..=at]);
                    self.report(&mut on_element);
                }
                _ => {}
            }
        }
        if self.depth > 1 {
            self.buffer(&bytes[start..]);
        }
    }

    /// Whether the array is closed.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The separator before another element. `None` if none can follow here.
    pub(crate) fn separator(&self) -> Option<&'static str> {
        if self.ended || self.in_string {
            return None;
        }
        match (self.depth, self.newest) {
            (0, _) => Some("["),
            (1, b'[' | b',') => Some(""),
            (1, b'}' | b']') => Some(","),
            _ => None,
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            let is_escaped = std::mem::take(&mut self.after_backslash);
            match byte {
                _ if is_escaped => {}
                b'\\' => self.after_backslash = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        if !byte.is_ascii_whitespace() {
            self.newest = byte;
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' if !self.ended => self.depth += 1,
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.ended |= self.depth == 0;
            }
            _ => {}
        }
    }

    fn buffer(&mut self, piece: &[u8]) {
        self.size += piece.len();
        if self.size <= MAX_ELEMENT {
            self.element.extend_from_slice(piece);
        } else {
            self.element.clear();
        }
    }

    fn report(&mut self, on_element: &mut impl FnMut(&[u8])) {
        if !self.element.is_empty() {
            on_element(&self.element);
        }
        self.element.clear();
        self.size = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(stream: &str, size: usize) -> (Vec<String>, bool) {
        let (mut parser, mut elements) = (ArrayParser::default(), Vec::new());
        for piece in stream.as_bytes().chunks(size) {
            parser.feed(piece, |element| elements.push(String::from_utf8_lossy(element).into_owned()));
        }
        (elements, parser.has_ended())
    }

    #[test]
    fn elements_are_the_same_however_they_are_sliced() {
        let stream = "[{\"a\":[1,{}]},\r\n 7 , \"}]\",\n{\"b\":\"\\\"]}\\\\\"}\n]\n";
        for size in 1..=stream.len() {
            let expected = vec!["{\"a\":[1,{}]}".to_owned(), "{\"b\":\"\\\"]}\\\\\"}".to_owned()];
            assert_eq!(elements(stream, size), (expected, true), "in pieces of {size}");
        }
    }

    #[test]
    fn array_element_over_the_limit_is_skipped() {
        let stream = format!("[{{}},{{\"x\":\"{}\"}},{{}}]", "x".repeat(MAX_ELEMENT));
        for size in [stream.len(), MAX_ELEMENT, 4099] {
            assert_eq!(elements(&stream, size), (vec!["{}".to_owned(); 2], true), "in pieces of {size}");
        }
    }

    #[test]
    fn separator_before_another_array_element() {
        for (stream, expected) in [
            ("", Some("[")),
            ("[", Some("")),
            ("[{}", Some(",")),
            ("[{} \n", Some(",")),
            ("[{}\n,\r\n", Some("")),
            ("[{},\"", None),
            ("[{},7", None),
            ("[{\"a\":", None),
            ("[{},{\"a\"", None),
            ("[{}]", None),
        ] {
            let mut parser = ArrayParser::default();
            parser.feed(stream.as_bytes(), |_| {});
            assert_eq!(parser.separator(), expected, "{stream:?}");
        }
    }
}
