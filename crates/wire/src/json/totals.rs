//! A walk over a whole JSON text, to compare the cursor with another reader.

use model::Unread;

use super::Json;

/// What a JSON text holds. Two readers that agree find the same totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonTotals {
    /// Values of any kind, nested ones included.
    pub values: usize,
    /// Fields of objects, duplicates included.
    pub fields: usize,
    /// Bytes of all strings and keys, unescaped.
    pub text: usize,
}

impl JsonTotals {
    /// Reads all of `text` with the cursor that reads requests and answers.
    pub fn of(text: &str) -> Result<JsonTotals, Unread> {
        let mut totals = JsonTotals::default();
        // Not a recursion, because the nesting is the input's.
        let mut unread = vec![Json::parse(text)?];
        while let Some(value) = unread.pop() {
            totals.values += 1;
            totals.text += value.text().map_or(0, |text| text.len());
            value.items(|item| unread.push(item));
            value.fields(|key, field| {
                totals.fields += 1;
                totals.text += key.len();
                unread.push(field);
            });
        }
        Ok(totals)
    }
}
