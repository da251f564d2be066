//! The conversation's id, where a client puts one into the body.

use std::borrow::Cow;

use crate::json::Json;

/// The fields that may hold an id, from the most to the least telling.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    metadata: Option<Json<'a>>,
    litellm_session_id: Option<Json<'a>>,
    conversation: Option<Json<'a>>,
    prompt_cache_key: Option<Json<'a>>,
}

impl<'a> Session<'a> {
    /// Looks at a field of the body.
    pub(crate) fn see(&mut self, key: &str, value: Json<'a>) {
        match key {
            "metadata" => self.metadata = Some(value),
            "litellm_session_id" => self.litellm_session_id = Some(value),
            "conversation" => self.conversation = Some(value),
            "prompt_cache_key" => self.prompt_cache_key = Some(value),
            _ => {}
        }
    }

    /// The id.
    pub(crate) fn id(self) -> Option<Cow<'a, str>> {
        let metadata = |name: &str| self.metadata.and_then(|metadata| metadata.field(name));
        let conversation = |value: Json<'a>| value.filled_text().or_else(|| value.field("id")?.filled_text());
        metadata("session_id")
            .and_then(Json::filled_text)
            .or_else(|| self.litellm_session_id.and_then(Json::filled_text))
            .or_else(|| session_of_user(metadata("user_id")?.filled_text()?))
            .or_else(|| self.conversation.and_then(conversation))
            .or_else(|| self.prompt_cache_key.and_then(Json::filled_text))
    }
}

/// The session that Claude Code puts into Anthropic's `user_id`: a JSON object in a string, before that
/// `user_…_account_…_session_<uuid>`. Any other `user_id` names a person, not a conversation.
fn session_of_user(user: Cow<'_, str>) -> Option<Cow<'_, str>> {
    if let Ok(object) = Json::parse(&user) {
        return object.field("session_id")?.filled_text().map(|id| Cow::Owned(id.into_owned()));
    }
    let (_, session) = user.rsplit_once("_session_")?;
    (!session.is_empty()).then(|| Cow::Owned(session.to_owned()))
}
