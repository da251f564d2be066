//! A cursor that reads a JSON text in one pass.

use super::open_kinds::OpenKinds;
use super::scan::{KeyEnd, key_end, scalar_end, space_end, string_end};
use super::value::text;
use super::{Json, Malformed};

/// The deepest nesting that is read. More than serde_json allows: nothing here recurses, and a body
/// that providers accept must not go unread.
const MAX_DEPTH: u16 = 1024;

type Result<T> = std::result::Result<T, Malformed>;

/// A position in a JSON text.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u16,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`.
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, depth: 0 }
    }

    /// Visits the fields of an object. `visit` reads the field's value from the cursor, or ends the
    /// visit with an error. Any other value is skipped and gives `false`.
    pub(crate) fn object(&mut self, mut visit: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<bool> {
        let first = self.peek();
        if first != b'{' {
            return self.skip(first).map(|()| false);
        }
        self.open()?;
        if self.peek() == b'}' {
            self.close();
            return Ok(true);
        }
        loop {
            let (start, end) = self.key()?;
            let written = &self.text[start..end.at];
            let unescaped;
            let key = if end.is_plain {
                written
            } else {
                unescaped = text(written);
                &unescaped
            };
            visit(self, key)?;
            match self.peek() {
                b',' => self.at += 1,
                b'}' => break self.close(),
                _ => return Err(Malformed::Invalid),
            }
        }
        Ok(true)
    }

    /// Visits the fields of an object with their values.
    pub(crate) fn fields(&mut self, mut visit: impl FnMut(&str, Json<'a>)) -> Result<bool> {
        self.object(|cursor, key| {
            visit(key, cursor.value()?);
            Ok(())
        })
    }

    /// Visits the items of an array, as [`Cursor::object`] does with fields.
    pub(crate) fn array(&mut self, mut visit: impl FnMut(&mut Self) -> Result<()>) -> Result<bool> {
        let first = self.peek();
        if first != b'[' {
            return self.skip(first).map(|()| false);
        }
        self.open()?;
        if self.peek() == b']' {
            self.close();
            return Ok(true);
        }
        loop {
            visit(self)?;
            match self.peek() {
                b',' => self.at += 1,
                b']' => break self.close(),
                _ => return Err(Malformed::Invalid),
            }
        }
        Ok(true)
    }

    /// Skips a value.
    pub(crate) fn pass(&mut self) -> Result<()> {
        let first = self.peek();
        self.skip(first)
    }

    /// Skips `text` if it comes next, and returns whether it did.
    pub(crate) fn pass_text(&mut self, text: &str) -> bool {
        self.peek();
        let stands_here = self.text.as_bytes()[self.at..].starts_with(text.as_bytes());
        if stands_here {
            self.at += text.len();
        }
        stands_here
    }

    /// The number of containers around the cursor.
    pub(crate) fn depth(&self) -> u16 {
        self.depth
    }

    /// Reads a value.
    pub(crate) fn value(&mut self) -> Result<Json<'a>> {
        let first = self.peek();
        let start = self.at;
        self.skip(first)?;
        Ok(Json(&self.text[start..self.at]))
    }

    /// Lets `read` read a value, and returns the value as well.
    pub(crate) fn capture<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Json<'a>, T)> {
        self.peek();
        let start = self.at;
        let seen = read(self)?;
        Ok((Json(&self.text[start..self.at]), seen))
    }

    /// The next byte that is not white space; 0 at the end of input.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at) {
            Some(&byte) if byte > b' ' => byte,
            _ => {
                self.at = space_end(bytes, self.at);
                bytes.get(self.at).copied().unwrap_or(0)
            }
        }
    }

    /// Checks that only white space follows.
    pub(crate) fn end(mut self) -> Result<()> {
        self.peek();
        if self.at < self.text.len() { Err(Malformed::Invalid) } else { Ok(()) }
    }

    /// Skips a value that begins with `first`.
    #[inline(always)]
    fn skip(&mut self, first: u8) -> Result<()> {
        match first {
            b'"' => self.string(),
            b'{' | b'[' => self.skip_container(),
            _ => self.scalar(),
        }
    }

    /// Skips an object or array, without recursion.
    fn skip_container(&mut self) -> Result<()> {
        let outer = self.depth;
        let mut kinds = OpenKinds::default();
        loop {
            match self.peek() {
                b'"' => self.string()?,
                opening @ (b'{' | b'[') => {
                    self.open()?;
                    kinds.push(opening == b'{');
                    let closing = if opening == b'{' { b'}' } else { b']' };
                    if self.peek() != closing {
                        if opening == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                    self.close();
                    kinds.pop();
                }
                _ => self.scalar()?,
            }
            if !self.advance(outer, &mut kinds)? {
                return Ok(());
            }
        }
    }

    /// Closes the containers that end after a value inside [`Cursor::skip_container`], and returns
    /// whether another value follows.
    #[inline(always)]
    fn advance(&mut self, outer: u16, kinds: &mut OpenKinds) -> Result<bool> {
        while self.depth > outer {
            let in_object = kinds.in_object();
            match self.peek() {
                b',' => {
                    self.at += 1;
                    if in_object {
                        self.skip_key()?;
                    }
                    return Ok(true);
                }
                b'}' if in_object => self.close(),
                b']' if !in_object => self.close(),
                _ => return Err(Malformed::Invalid),
            }
            kinds.pop();
        }
        Ok(false)
    }

    /// Skips a literal or a number.
    #[inline(always)]
    fn scalar(&mut self) -> Result<()> {
        self.at = scalar_end(self.text.as_bytes(), self.at).ok_or(Malformed::Invalid)?;
        Ok(())
    }

    /// Skips a string. The cursor is at its opening quote.
    #[inline(always)]
    fn string(&mut self) -> Result<()> {
        self.at = string_end(self.text.as_bytes(), self.at + 1).ok_or(Malformed::Invalid)? + 1;
        Ok(())
    }

    /// Skips a key and its colon. Returns where the key's text starts and ends.
    #[inline(always)]
    fn key(&mut self) -> Result<(usize, KeyEnd)> {
        self.expect(b'"')?;
        let start = self.at;
        let end = key_end(self.text.as_bytes(), start).ok_or(Malformed::Invalid)?;
        self.at = end.at + 1;
        self.expect(b':')?;
        Ok((start, end))
    }

    /// Skips a key and its colon without looking for escapes.
    #[inline(always)]
    fn skip_key(&mut self) -> Result<()> {
        if self.peek() != b'"' {
            return Err(Malformed::Invalid);
        }
        self.string()?;
        self.expect(b':')
    }

    /// Skips `character`, and fails if another one comes next.
    #[inline(always)]
    fn expect(&mut self, character: u8) -> Result<()> {
        if self.peek() != character {
            return Err(Malformed::Invalid);
        }
        self.at += 1;
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return Err(Malformed::TooDeep);
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    #[inline(always)]
    fn close(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }
}
