//! JSON texts, read by the cursor and by serde_json.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use wire::JsonTotals;

/// The cursor finds in a text what serde_json finds. It accepts more: deeper nesting, half
/// surrogate pairs, and what clients write by mistake.
pub(crate) fn json(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let read = JsonTotals::of(text);
    if let Ok(Totals(expected)) = serde_json::from_str(text) {
        assert_eq!(read, Ok(expected));
    }
}

/// The totals of a value as serde_json reads it.
struct Totals(JsonTotals);

impl Totals {
    fn scalar<E>(text: usize) -> Result<Totals, E> {
        Ok(Totals(JsonTotals { values: 1, fields: 0, text }))
    }

    fn add(&mut self, Totals(inner): Totals) {
        self.0.values += inner.values;
        self.0.fields += inner.fields;
        self.0.text += inner.text;
    }
}

impl<'de> Deserialize<'de> for Totals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Totals, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Totals;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Totals, E> {
        Totals::scalar(0)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Totals, E> {
        Totals::scalar(0)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Totals, E> {
        Totals::scalar(0)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Totals, E> {
        Totals::scalar(0)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Totals, E> {
        Totals::scalar(0)
    }

    fn visit_str<E>(self, text: &str) -> Result<Totals, E> {
        Totals::scalar(text.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Totals, A::Error> {
        let mut totals = Totals::scalar(0)?;
        while let Some(item) = items.next_element()? {
            totals.add(item);
        }
        Ok(totals)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Totals, A::Error> {
        let mut totals = Totals::scalar(0)?;
        while let Some((key, value)) = fields.next_entry::<String, Totals>()? {
            totals.0.fields += 1;
            totals.0.text += key.len();
            totals.add(value);
        }
        Ok(totals)
    }
}
