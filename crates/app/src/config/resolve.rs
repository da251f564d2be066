//! Resolves the layers: defaults, then the file, then the environment, then flags.

use std::path::{Path, PathBuf};

use model::Provider;

use super::{Config, Entry, Mistake, Mistakes, contradictions, environment, file};

/// The sources of the layers.
pub struct Sources<'a> {
    /// The file given with `--config`.
    pub file: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(String, String)>,
    /// The settings of flags.
    pub flags: Vec<Entry>,
    /// The built-in providers.
    pub known: &'a [Provider],
    /// The default data directory.
    pub default_data_dir: PathBuf,
    /// Whether a server is started with it. A command may use the short token of an older server.
    pub for_server: bool,
}

/// Resolves all layers.
pub fn resolve(sources: Sources<'_>) -> Result<Config, Mistakes> {
    let (environment, ignored_variables) = environment::layer(sources.environment.iter().cloned());
    let mut mistakes = Vec::new();
    let above_file: Vec<Entry> = environment.into_iter().chain(sources.flags.iter().cloned()).collect();
    let mut entries = file_layer(&sources, &above_file, &mut mistakes);
    entries.extend(above_file);

    let mut config = Config { ignored_variables, ..Config::new(sources.default_data_dir) };
    for entry in &entries {
        if let Err(mistake) = config.apply(entry, sources.known) {
            mistakes.push(mistake);
        }
    }
    let contradictions = contradictions::mistakes(&config, &entries, &mistakes);
    mistakes.extend(contradictions);
    if sources.for_server {
        mistakes.extend(contradictions::short_token(&config, &entries, &mistakes));
        mistakes.extend(contradictions::unusable_tls(&config, &entries, &mistakes));
    }
    if mistakes.is_empty() { Ok(config) } else { Err(Mistakes(mistakes)) }
}

/// The number of mistakes in a configuration file with this text. For the fuzzer.
#[doc(hidden)]
pub fn count_mistakes(text: &str) -> usize {
    let (entries, broken) = file::layer(Path::new("agentgazer.toml"), text);
    let mut config = Config::new(PathBuf::new());
    let wrong = entries.iter().filter(|entry| config.apply(entry, &[]).is_err()).count();
    broken.len() + wrong
}

/// The keys of mistakes that leave a part of the file unread, or all of it.
pub(super) const UNREAD_FILE: [&str; 2] = [FILE, file::SYNTAX];
const FILE: &str = "config";

/// The entries of the named file, which must exist, or of the one in the data directory, which may
/// not.
fn file_layer(sources: &Sources<'_>, above: &[Entry], mistakes: &mut Vec<Mistake>) -> Vec<Entry> {
    let named = sources.file.clone().or_else(|| variable(sources, "AGENTGAZER_CONFIG").map(PathBuf::from));
    let path = named.clone().unwrap_or_else(|| {
        let configured_dir = above.iter().rfind(|entry| entry.key == "data_dir").and_then(|entry| entry.values.first());
        configured_dir.map_or(sources.default_data_dir.clone(), PathBuf::from).join("agentgazer.toml")
    });
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            mistakes.push(Mistake { key: FILE.to_owned(), origin: None, message });
            return Vec::new();
        }
    };
    let (entries, broken) = file::layer(&path, &text);
    mistakes.extend(broken);
    if named.is_none() {
        mistakes.extend(moves_itself(&entries));
    }
    entries
}

/// The file in the data directory cannot set the data directory.
fn moves_itself(entries: &[Entry]) -> Option<Mistake> {
    let entry = entries.iter().find(|entry| entry.key == "data_dir")?;
    Some(Mistake::of(
        entry,
        "cannot be set in the data directory's own file: use --config, AGENTGAZER_DATA_DIR or --data-dir",
    ))
}

fn variable(sources: &Sources<'_>, name: &str) -> Option<String> {
    sources.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
}
