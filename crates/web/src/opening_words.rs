//! The first words of conversations, by which people recognise them. The program that wires the
//! server provides a function that reads them from evidence bodies; nothing else is stored for
//! them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use model::CallId;

type Read = dyn Fn(CallId) -> Option<String> + Send + Sync;

/// Reads the first words of the conversation that a call belongs to. Cloning is cheap.
#[derive(Clone, Default)]
pub struct OpeningWords(Option<Arc<Read>>);

impl OpeningWords {
    /// Reads first words with `read`.
    pub fn new(read: impl Fn(CallId) -> Option<String> + Send + Sync + 'static) -> OpeningWords {
        OpeningWords(Some(Arc::new(read)))
    }

    /// The first words of each conversation, from the first of its calls that is still kept.
    pub(crate) async fn of(&self, conversations: HashMap<String, Vec<CallId>>) -> HashMap<String, String> {
        let Some(read) = self.0.clone() else { return HashMap::new() };
        let words = move |(conversation, calls): (String, Vec<CallId>)| {
            calls.into_iter().find_map(|call| read(call)).map(|words| (conversation, words))
        };
        // Reading decompresses bodies, which may be long.
        let reading = tokio::task::spawn_blocking(move || conversations.into_iter().filter_map(words).collect());
        reading.await.unwrap_or_default()
    }
}

impl fmt::Debug for OpeningWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpeningWords")
    }
}
