//! The body of a request and its content. A body is decompressed once and its JSON is read once;
//! policies, the detector and the evidence share the result.

use bytes::Bytes;
use http::HeaderMap;
use model::{AgentId, Asked, Unread, Unscored};
use wire::{Dialect, EarlierAnswers, KeptLink, RebuiltPrompt, RunId};

use super::decode::decode_body;
use crate::call::Call;
use crate::core::Core;
use crate::encoding::Encoding;
use crate::upload::{BrokenUpload, Upload};

/// A body that was received completely.
pub(crate) struct ReadBody {
    /// As received and forwarded.
    pub(crate) raw: Bytes,
    /// Decompressed and in UTF-8, or the reason why it cannot be read.
    pub(crate) plain: Result<Bytes, Unscored>,
}

impl ReadBody {
    /// Receives the body of `upload` and decompresses it.
    pub(crate) async fn receive(
        core: &Core,
        headers: &HeaderMap,
        upload: &mut Upload,
    ) -> Result<ReadBody, BrokenUpload> {
        let raw = upload.collect(&core.body_budget).await?;
        let decode = || core.catch_panic.run(|| decode_body(headers, &raw, core.config.max_read()));
        let plain = flatten(core.blocking.run(Encoding::length_bound(headers, &raw), decode).await);
        if let Ok(plain) = &plain
            && plain.len() > raw.len()
        {
            upload.count_decoded(&core.body_budget, plain.len()).await;
        }
        Ok(ReadBody { raw, plain })
    }

    /// The number of bytes to read.
    pub(crate) fn length(&self) -> usize {
        self.plain.as_ref().map_or(self.raw.len(), Bytes::len)
    }

    /// Reads the JSON of a body in `dialect`. Boxed, because it is moved from stage to stage.
    pub(crate) fn read_json(&self, core: &Core, dialect: Dialect) -> Result<Box<Asked<'_>>, Unscored> {
        let plain = self.plain.as_ref().map_err(|reason| *reason)?;
        flatten(core.catch_panic.run(|| wire::read_request(dialect, plain).map(Box::new)))
    }
}

/// `None` stands for a panic, which is a bug in detection.
pub(crate) fn flatten<T>(read: Option<Result<T, Unread>>) -> Result<T, Unscored> {
    match read {
        Some(read) => read.map_err(Unscored::Unread),
        None => Err(Unscored::DetectionFailed),
    }
}

/// Finds the earlier answers that `asked` refers to instead of carrying them.
pub(crate) fn earlier_answers(core: &Core, agent: &AgentId, asked: &Asked<'_>) -> EarlierAnswers {
    if asked.continues.is_none() && asked.referenced_items.is_empty() {
        return EarlierAnswers::default();
    }
    core.chains.lock().earlier_answers(agent, asked)
}

/// The content of a request.
pub(crate) struct ReadRequest<'a> {
    pub(crate) plain: &'a Bytes,
    pub(crate) asked: Box<Asked<'a>>,
    /// The name of its conversation.
    pub(crate) conversation: String,
    /// The approximate number of input tokens.
    pub(crate) tokens: u64,
    /// The run that it belongs to, if its prompt is rebuilt at every step.
    pub(crate) run: Option<RunId>,
}

impl<'a> ReadRequest<'a> {
    /// Completes `asked`, read from `body`, with the earlier answers that it refers to, and with
    /// what came before a prompt that is rebuilt at every step.
    pub(crate) fn new(
        call: &Call,
        headers: &HeaderMap,
        body: &'a ReadBody,
        mut asked: Box<Asked<'a>>,
        earlier: &'a EarlierAnswers,
    ) -> Result<ReadRequest<'a>, Unscored> {
        let plain = body.plain.as_ref().map_err(|reason| *reason)?;
        earlier.complete(&mut asked);
        let run = RebuiltPrompt::of(&asked)
            .map(|prompt| call.core.rebuilt.lock().place(call.event.agent.as_str(), &prompt, &mut asked));
        let conversation = wire::conversation_of(headers, &asked);
        let tokens = wire::asked_tokens(plain.len(), &asked);
        Ok(ReadRequest { plain, asked, conversation, tokens, run })
    }

    /// What later requests that continue this one will leave out; `None` if the provider does not
    /// keep it.
    pub(crate) fn link(&self) -> Option<Box<KeptLink>> {
        KeptLink::of_request(&self.conversation, &self.asked).map(Box::new)
    }
}
