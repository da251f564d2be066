//! JSON read where it lies: a cursor that passes over every byte once, visits the fields that are asked for and skips the rest.
//! Written by hand because an agent's body is megabytes of history of which three messages matter: one pass, nothing
//! allocated, the last of doubled keys wins, and nesting has a limit even in what is skipped.

mod scan;
mod value;

pub(crate) use value::Json;

use scan::{KeyEnd, key_end, scalar_end, space_end, string_end};
use value::text;

/// How deep objects and arrays may nest. Deeper than serde_json reads: nothing here recurses, so depth costs nothing, and a
/// body that providers accept must not go unread.
const MAX_DEPTH: u16 = 1024;

/// Why a text is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It is not JSON.
    Invalid,
    /// It nests deeper than `MAX_DEPTH`.
    TooDeep,
}

type Result<T> = std::result::Result<T, Malformed>;

/// A place in a JSON text.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u16,
}

impl<'a> Cursor<'a> {
    /// Before the first value of `text`.
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, depth: 0 }
    }

    /// Visits the fields of an object; `each` takes the field's value from the cursor, or ends the visit with an error.
    /// Anything but an object is passed over, and the answer is `false`.
    pub(crate) fn object(&mut self, mut each: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<bool> {
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
            each(self, key)?;
            match self.peek() {
                b',' => self.at += 1,
                b'}' => break self.close(),
                _ => return Err(Malformed::Invalid),
            }
        }
        Ok(true)
    }

    /// Visits the fields of an object and passes over their values.
    pub(crate) fn fields(&mut self, mut each: impl FnMut(&str, Json<'a>)) -> Result<bool> {
        self.object(|cursor, key| {
            each(key, cursor.value()?);
            Ok(())
        })
    }

    /// Visits the items of an array, as [`Cursor::object`] does with fields.
    pub(crate) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<bool> {
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
            each(self)?;
            match self.peek() {
                b',' => self.at += 1,
                b']' => break self.close(),
                _ => return Err(Malformed::Invalid),
            }
        }
        Ok(true)
    }

    /// Passes over a value that nobody wants.
    pub(crate) fn pass(&mut self) -> Result<()> {
        let first = self.peek();
        self.skip(first)
    }

    /// Passes over a value and returns it.
    pub(crate) fn value(&mut self) -> Result<Json<'a>> {
        let first = self.peek();
        let start = self.at;
        self.skip(first)?;
        Ok(Json(&self.text[start..self.at]))
    }

    /// Lets `read` take a value, and returns the value as well.
    pub(crate) fn capture<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Json<'a>, T)> {
        self.peek();
        let start = self.at;
        let seen = read(self)?;
        Ok((Json(&self.text[start..self.at]), seen))
    }

    /// The first byte of what comes next, white space aside; 0, with which nothing begins, where nothing does.
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

    /// Checks that nothing follows.
    pub(crate) fn end(mut self) -> Result<()> {
        self.peek();
        if self.at < self.text.len() { Err(Malformed::Invalid) } else { Ok(()) }
    }

    /// Passes over a value that begins with `first`.
    #[inline(always)]
    fn skip(&mut self, first: u8) -> Result<()> {
        match first {
            b'"' => self.string(),
            b'{' | b'[' => self.skip_container(),
            _ => self.scalar(),
        }
    }

    /// Passes over an object or array, without recursion.
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

    /// After a value inside [`Cursor::skip_container`]: closes what ends here. Whether another value follows.
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

    /// Passes over a literal or a number.
    #[inline(always)]
    fn scalar(&mut self) -> Result<()> {
        self.at = scalar_end(self.text.as_bytes(), self.at).ok_or(Malformed::Invalid)?;
        Ok(())
    }

    /// Passes over a string. The cursor stands at the opening quote.
    #[inline(always)]
    fn string(&mut self) -> Result<()> {
        self.at = string_end(self.text.as_bytes(), self.at + 1).ok_or(Malformed::Invalid)? + 1;
        Ok(())
    }

    /// Passes over a key and its colon. Where its text starts and ends.
    #[inline(always)]
    fn key(&mut self) -> Result<(usize, KeyEnd)> {
        self.expect(b'"')?;
        let start = self.at;
        let end = key_end(self.text.as_bytes(), start).ok_or(Malformed::Invalid)?;
        self.at = end.at + 1;
        self.expect(b':')?;
        Ok((start, end))
    }

    /// The same for a key that nobody reads.
    #[inline(always)]
    fn skip_key(&mut self) -> Result<()> {
        if self.peek() != b'"' {
            return Err(Malformed::Invalid);
        }
        self.string()?;
        self.expect(b':')
    }

    /// Passes over this one character.
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

/// The kinds of the containers that are open, in bits: 1 is an object. The innermost is the lowest bit.
#[derive(Debug, Default)]
struct OpenKinds {
    innermost: u128,
    /// How many of them `innermost` holds.
    held: u8,
    /// Those further out, in full words. Hardly any body nests that deep, and an empty list allocates nothing.
    outer: Vec<u128>,
}

impl OpenKinds {
    #[inline(always)]
    fn push(&mut self, is_object: bool) {
        if self.held == 128 {
            self.outer.push(self.innermost);
            self.held = 0;
        }
        self.innermost = self.innermost << 1 | u128::from(is_object);
        self.held += 1;
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.innermost >>= 1;
        self.held -= 1;
        if self.held == 0
            && let Some(word) = self.outer.pop()
        {
            (self.innermost, self.held) = (word, 128);
        }
    }

    #[inline(always)]
    fn in_object(&self) -> bool {
        self.innermost & 1 == 1
    }
}

#[cfg(test)]
mod tests;
