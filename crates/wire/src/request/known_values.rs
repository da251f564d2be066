//! Skips values that every call of an agent repeats, such as the definitions of its tools: tens of
//! kilobytes in a coding agent. A value that was valid before is recognised by its bytes, which is
//! a hundred times faster than reading it. Each thread keeps its own values, so that no lock is
//! needed.

use std::cell::RefCell;

use crate::json::{Cursor, Malformed};

/// The most values that a thread keeps: enough for a few agents that call in turns.
const PLACES: usize = 8;
/// A longer value is not kept. All of them take at most a megabyte.
const LONGEST: usize = 128 << 10;
/// A shorter value is read as fast as it is compared.
const SHORTEST: usize = 128;

thread_local! {
    static KNOWN: RefCell<KnownValues> = const { RefCell::new(KnownValues { values: Vec::new(), next: 0 }) };
}

struct KnownValues {
    values: Vec<KnownValue>,
    /// The place of the value that is replaced next.
    next: usize,
}

/// A value that was valid.
struct KnownValue {
    text: Box<str>,
    /// The depth at which it was valid. At a greater depth it might exceed the limit on nesting.
    depth: u16,
}

/// Skips a value, faster if it is a known one.
pub(super) fn pass(cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
    KNOWN.with_borrow_mut(|known| known.pass(cursor))
}

impl KnownValues {
    fn pass(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if self.values.iter().any(|value| cursor.depth() <= value.depth && cursor.pass_text(&value.text)) {
            return Ok(());
        }
        let depth = cursor.depth();
        let text = cursor.value()?.raw();
        // Only containers show where they end: `12` is also the beginning of `123`.
        if text.starts_with(['[', '{']) && (SHORTEST..=LONGEST).contains(&text.len()) {
            self.keep(KnownValue { text: text.into(), depth });
        }
        Ok(())
    }

    fn keep(&mut self, value: KnownValue) {
        match self.values.get_mut(self.next) {
            Some(replaced) => *replaced = value,
            None => self.values.push(value),
        }
        self.next = (self.next + 1) % PLACES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownValues {
        KnownValues { values: Vec::new(), next: 0 }
    }

    /// Reads an array and passes its items as known values.
    fn read(known: &mut KnownValues, array: &str) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(array);
        cursor.array(|cursor| known.pass(cursor))?;
        cursor.end()
    }

    #[test]
    fn known_value_is_passed_like_a_new_one() {
        let tools = format!("[{}]", [r#"{"name":"search","parameters":{"type":"object"}}"#; 9].join(", "));
        let broken = tools.replacen("}}", "}", 1);
        let mut known = known();
        for _ in 0..2 {
            for valid in [format!("[ {tools} , 1]"), format!("[{tools}]"), format!("[1,{tools}, {tools}]")] {
                assert_eq!(read(&mut known, &valid), Ok(()), "{valid}");
            }
            let cut = &tools[..200];
            for invalid in [format!("[{tools}{tools}]"), format!("[{broken}]"), format!("[{cut}"), format!("[{cut}]")] {
                assert_eq!(read(&mut known, &invalid), Err(Malformed::Invalid), "{invalid}");
            }
        }
        assert_eq!(known.values.len(), 1);
    }

    #[test]
    fn known_value_may_nest_too_deep_at_a_greater_depth() {
        let deep = format!("{}1{}", "[".repeat(1023), "]".repeat(1023));
        let mut known = known();
        assert_eq!(read(&mut known, &format!("[{deep}]")), Ok(()));
        assert_eq!(known.values.len(), 1);
        let deeper = format!("[[{deep}]]");
        let passed = Cursor::new(&deeper).array(|outer| outer.array(|cursor| known.pass(cursor)).map(drop));
        assert_eq!(passed, Err(Malformed::TooDeep));
    }

    #[test]
    fn only_the_newest_values_of_limited_length_are_kept() {
        let mut known = known();
        for number in 0..3 * PLACES {
            let array = format!("[[{number},\"{}\"]]", "x".repeat(SHORTEST));
            assert_eq!(read(&mut known, &array), Ok(()));
        }
        assert_eq!(read(&mut known, &format!("[[\"{}\"]]", "x".repeat(LONGEST))), Ok(()));
        let is_kept = |number: usize| known.values.iter().any(|value| value.text.starts_with(&format!("[{number},")));
        assert_eq!(known.values.len(), PLACES);
        assert!((2 * PLACES..3 * PLACES).all(is_kept));
    }
}
