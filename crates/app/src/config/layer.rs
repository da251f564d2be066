//! The layers of the configuration as text: a list of entries, each with a key, values and an
//! origin.

use std::fmt;
use std::path::PathBuf;

use super::environment::list_values;
use super::setting::{SETTINGS, Shape};

/// The origin of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of the configuration file.
    File(PathBuf, usize),
    /// An environment variable.
    Environment(String),
    /// A flag on the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => f.write_str(name),
            Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// One setting as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its key, like `limits.idle_timeout`.
    pub key: String,
    /// Its values; a list has several.
    pub values: Vec<String>,
    /// Its origin.
    pub origin: Origin,
}

impl Entry {
    /// A setting from a flag.
    pub fn flag(flag: &str, key: &str, value: &str) -> Entry {
        Entry { key: key.to_owned(), values: vec![value.to_owned()], origin: Origin::Flag(flag.to_owned()) }
    }

    /// `--set KEY=VALUE`. The values of a list are separated by commas, as in the environment.
    pub fn set(key: &str, value: &str) -> Entry {
        let is_list = SETTINGS.iter().any(|setting| setting.key == key && setting.shape == Shape::List);
        let entry = Entry::flag("--set", key, value);
        if is_list { Entry { values: list_values(value), ..entry } } else { entry }
    }
}

/// A mistake in a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its key.
    pub key: String,
    /// Its origin; `None` if the setting is missing.
    pub origin: Option<Origin>,
    /// What is wrong and what is expected.
    pub message: String,
}

impl Mistake {
    /// A mistake in `entry`.
    pub fn of(entry: &Entry, message: impl Into<String>) -> Mistake {
        Mistake { key: entry.key.clone(), origin: Some(entry.origin.clone()), message: message.into() }
    }
}

/// All mistakes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        write!(f, "{count} mistake{} in the configuration", if count == 1 { "" } else { "s" })?;
        for Mistake { key, origin, message } in &self.0 {
            write!(f, "\n  {key} {message}")?;
            if let Some(origin) = origin {
                write!(f, " ({origin})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
