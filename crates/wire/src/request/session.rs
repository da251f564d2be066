//! The conversation's id in a request's body.

use std::borrow::Cow;

use model::Continues;

use crate::Dialect;
use crate::json::Json;

/// The fields that may hold an id, most specific first.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    metadata: Option<Json<'a>>,
    litellm_session_id: Option<Json<'a>>,
    /// Google's own clients, OpenRouter.
    session_id: Option<Json<'a>>,
    conversation: Option<Json<'a>>,
    prompt_cache_key: Option<Json<'a>>,
    previous_response_id: Option<Json<'a>>,
    thread: Option<Json<'a>>,
    user: Option<Json<'a>>,
    safety_identifier: Option<Json<'a>>,
    store: Option<Json<'a>>,
}

impl<'a> Session<'a> {
    /// Keeps a field of the body if it may hold an id.
    pub(crate) fn keep_field(&mut self, key: &str, value: Json<'a>) {
        match key {
            "metadata" => self.metadata = Some(value),
            "litellm_session_id" => self.litellm_session_id = Some(value),
            "session_id" => self.session_id = Some(value),
            "conversation" => self.conversation = Some(value),
            "prompt_cache_key" => self.prompt_cache_key = Some(value),
            "previous_response_id" => self.previous_response_id = Some(value),
            "thread" => self.thread = Some(value),
            "user" => self.user = Some(value),
            "safety_identifier" => self.safety_identifier = Some(value),
            "store" => self.store = Some(value),
            _ => {}
        }
    }

    /// The id.
    pub(crate) fn id(&self) -> Option<Cow<'a, str>> {
        let metadata = |name: &str| self.metadata.and_then(|metadata| metadata.field(name));
        metadata("session_id")
            // Qwen Code.
            .or_else(|| metadata("sessionId"))
            .and_then(Json::filled_text)
            .or_else(|| self.litellm_session_id.and_then(Json::filled_text))
            .or_else(|| self.session_id.and_then(Json::filled_text))
            .or_else(|| session_of_user(metadata("user_id")?.filled_text()?))
            .or_else(|| self.conversation_id())
            .or_else(|| self.prompt_cache_key.and_then(Json::filled_text))
    }

    /// The person that the request is made for: OpenAI's `user` and `safety_identifier`,
    /// Anthropic's `metadata.user_id`.
    pub(crate) fn person(&self) -> Option<Cow<'a, str>> {
        let user_id = || self.metadata.and_then(|metadata| metadata.field("user_id"));
        self.user.or(self.safety_identifier).or_else(user_id).and_then(Json::filled_text)
    }

    /// The earlier answer or stored conversation that this request continues.
    pub(crate) fn continues(&self) -> Option<Continues<'a>> {
        let previous_message = || self.thread?.field("previous_message_id")?.filled_text();
        let previous = self.previous_response_id.and_then(Json::filled_text).or_else(previous_message);
        previous.map(Continues::Answer).or_else(|| self.conversation_id().map(Continues::Conversation))
    }

    /// Whether a later request may continue from the answer. OpenAI stores answers by default,
    /// Anthropic only in a thread.
    pub(crate) fn is_kept(&self, dialect: Dialect) -> bool {
        match dialect {
            Dialect::Responses => self.store.is_none_or(|store| store.raw() != "false"),
            Dialect::Messages => self.thread.is_some_and(|thread| !thread.is_null()),
            _ => false,
        }
    }

    /// OpenAI's `conversation`: an id, or an object with one.
    fn conversation_id(&self) -> Option<Cow<'a, str>> {
        let conversation = self.conversation?;
        conversation.filled_text().or_else(|| conversation.field("id")?.filled_text())
    }
}

/// The session in Claude Code's `user_id`: a JSON object in a string, or in older versions
/// `user_…_account_…_session_<uuid>`. Any other `user_id` names a person, not a conversation.
fn session_of_user(user: Cow<'_, str>) -> Option<Cow<'_, str>> {
    if let Ok(object) = Json::parse(&user) {
        return object.field("session_id")?.filled_text().map(|id| Cow::Owned(id.into_owned()));
    }
    let (_, session) = user.rsplit_once("_session_")?;
    (!session.is_empty()).then(|| Cow::Owned(session.to_owned()))
}
