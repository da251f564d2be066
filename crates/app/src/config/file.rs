//! The TOML file as a layer: every value becomes an entry with its line, so that a mistake can name
//! it.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::layer::{Entry, Mistake, Origin};

/// The key of a syntax error.
pub(super) const SYNTAX: &str = "TOML";

/// The settings in `text`, the content of the file at `path`. Broken lines are mistakes; the others
/// still count, so that all mistakes are reported at once.
pub(super) fn layer(path: &Path, text: &str) -> (Vec<Entry>, Vec<Mistake>) {
    let mut reader = Reader { path, text, entries: Vec::new(), mistakes: Vec::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let origin = reader.origin(error.span().unwrap_or(0..0));
        reader.mistakes.push(Mistake {
            key: SYNTAX.to_owned(),
            origin: Some(origin),
            message: error.message().to_owned(),
        });
    }
    reader.table("", document.get_ref());
    (reader.entries, reader.mistakes)
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    entries: Vec<Entry>,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    /// Every value of `table`, under `prefix`.
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table.iter() {
            let key =
                if prefix.is_empty() { name.get_ref().to_string() } else { format!("{prefix}.{}", name.get_ref()) };
            match value.get_ref() {
                DeValue::Table(inner) if prefix == "providers" => self.provider(name, inner),
                DeValue::Table(inner) => self.table(&key, inner),
                other => self.value(key, other, name.span()),
            }
        }
    }

    fn value(&mut self, key: String, value: &DeValue<'_>, span: Range<usize>) {
        let values = match value {
            DeValue::Array(items) => items.iter().map(|item| scalar(item.get_ref())).collect(),
            scalar_value => vec![scalar(scalar_value)],
        };
        self.entries.push(Entry { key, values, origin: self.origin(span) });
    }

    /// `[providers.NAME]` with `base_url` and optional `format`, converted to the form of
    /// `--provider`.
    fn provider(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, table: &DeTable<'_>) {
        let text_of = |wanted: &str| {
            let found = table.iter().find(|(key, _)| key.get_ref() == wanted);
            found.map(|(_, value)| scalar(value.get_ref()))
        };
        for (key, _) in table.iter().filter(|(key, _)| !["base_url", "format"].contains(&key.get_ref().as_ref())) {
            let key_path = format!("providers.{}.{}", name.get_ref(), key.get_ref());
            let origin = Some(self.origin(key.span()));
            self.mistakes.push(Mistake { key: key_path, origin, message: "is no setting".to_owned() });
        }
        let origin = self.origin(name.span());
        let Some(url) = text_of("base_url") else {
            let key = format!("providers.{}.base_url", name.get_ref());
            self.mistakes.push(Mistake { key, origin: Some(origin), message: "is missing".to_owned() });
            return;
        };
        let format = text_of("format").map(|format| format!("{format}+")).unwrap_or_default();
        let value = format!("{}={format}{url}", name.get_ref());
        self.entries.push(Entry { key: "providers".to_owned(), values: vec![value], origin });
    }

    fn origin(&self, span: Range<usize>) -> Origin {
        let before = self.text.get(..span.start).unwrap_or_default();
        Origin::File(self.path.to_owned(), before.matches('\n').count() + 1)
    }
}

/// A value as it would be written in a flag.
fn scalar(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(moment) => moment.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_line() {
        let text = "port = 1\nallow_hosts = [\"a\", \"b\"]\n\n[limits]\nidle_timeout = \"9s\"\n\n[providers.mine]\nformat = \"openai\"\nbase_url = \"http://x\"\n";
        let (entries, mistakes) = layer(Path::new("a.toml"), text);
        let mut entries: Vec<_> =
            entries.iter().map(|it| format!("{} {} {}", it.key, it.values.join("|"), it.origin)).collect();
        entries.sort();
        assert_eq!(
            entries,
            [
                "allow_hosts a|b a.toml:2",
                "limits.idle_timeout 9s a.toml:5",
                "port 1 a.toml:1",
                "providers mine=openai+http://x a.toml:7",
            ]
        );
        assert_eq!(mistakes, []);
    }

    #[test]
    fn broken_lines_are_reported_and_the_rest_counts() {
        let (entries, mistakes) = layer(Path::new("a.toml"), "port = \nbind = \"::1\"\n[providers.x]\nbase = 1\n");
        assert!(entries.iter().any(|entry| entry.key == "bind"), "{entries:?}");
        let told: Vec<_> = mistakes.iter().filter_map(|it| it.origin.as_ref()).map(Origin::to_string).collect();
        assert_eq!(told, ["a.toml:1", "a.toml:4", "a.toml:3"], "{mistakes:?}");
    }
}
