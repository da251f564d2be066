//! Requests that carry only new messages and name the answer or stored conversation they continue
//! (OpenAI's `previous_response_id`, `conversation` and `item_reference`, Anthropic's `thread`).
//! The missing part is remembered here, up to a limit, so that such a request gets the same
//! conversation, turn and step as one that carries everything.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use model::{AgentId, Asked, Continues, ToolCall};
use twox_hash::XxHash3_128;

use super::bounded_map::BoundedMap;
use crate::answer::Answer;

/// Roughly the size of a link without its texts.
const LINK: usize = 320;

/// The part of a call that requests continuing from it leave out.
#[derive(Debug)]
struct Link {
    conversation: String,
    prompt: Vec<String>,
    attachments: Vec<String>,
    turn_message: Option<Vec<String>>,
    turn_position: u32,
    depth: u32,
    called: Vec<ToolCall<'static>>,
}

impl Link {
    /// Creates the link of a call in `conversation` that was answered with these tool calls.
    fn new(conversation: &str, asked: &Asked<'_>, called: Vec<ToolCall<'static>>) -> Link {
        Link {
            conversation: conversation.to_owned(),
            prompt: owned(&asked.prompt),
            turn_message: asked.turn_message.as_deref().map(owned),
            attachments: asked.attachments.iter().map(|&attachment| attachment.to_owned()).collect(),
            turn_position: asked.turn_position,
            depth: asked.depth,
            called,
        }
    }

    /// Creates the link of one tool call, for requests that refer to it by its item id.
    fn to_call(call: ToolCall<'static>) -> Link {
        Link::new("", &Asked::default(), vec![call])
    }

    /// Adds the tool calls that `asked` only refers to.
    fn resolve<'a>(&'a self, asked: &mut Asked<'a>) {
        asked.tool_calls.extend(self.called.iter().map(borrowed));
    }

    /// The same link with the tool calls of the answer.
    fn answered(self, called: Vec<ToolCall<'static>>) -> Link {
        Link { called, ..self }
    }

    /// Completes a request that continues from this call.
    fn extend<'a>(&'a self, mut asked: Asked<'a>) -> Asked<'a> {
        asked.session = asked.session.or(Some(Cow::Borrowed(&self.conversation)));
        let goes_on = !asked.tool_results.is_empty() && asked.tool_calls.is_empty();
        if has_prompt(&asked) && !goes_on {
            asked.turn_position = asked.turn_position.saturating_add(self.next_position());
            return asked;
        }
        let turn_message = self.turn_message.as_deref().map(borrowed_texts);
        if has_prompt(&asked) {
            // The message follows the results of this answer's calls, so the turn continues.
            asked.turn_message = turn_message.or_else(|| Some(borrowed_texts(&self.prompt)));
        } else {
            asked.prompt = borrowed_texts(&self.prompt);
            asked.attachments = self.attachments.iter().map(String::as_str).collect();
            asked.turn_message = turn_message;
        }
        asked.turn_position = self.turn_position;
        // The answer itself counts as a step.
        asked.depth = asked.depth.saturating_add(self.depth).saturating_add(1);
        if goes_on {
            asked.tool_calls = self.called.iter().map(borrowed).collect();
        }
        asked
    }

    /// The position of the user's next message.
    fn next_position(&self) -> u32 {
        let has_prompt = !self.prompt.is_empty() || !self.attachments.is_empty();
        self.turn_position.saturating_add(u32::from(has_prompt))
    }

    fn size(&self) -> usize {
        let texts =
            self.prompt.iter().chain(&self.attachments).chain(self.turn_message.iter().flatten()).map(String::len);
        let calls = self.called.iter().map(|call| call.name.len() + call.arguments.len() + size_of::<ToolCall<'_>>());
        LINK + self.conversation.len() + texts.sum::<usize>() + calls.sum::<usize>()
    }
}

/// The remembered part of a request that the provider keeps.
#[derive(Debug)]
pub struct KeptLink {
    link: Link,
    /// The conversation that the provider keeps it in: the next request names that instead of the
    /// answer.
    kept_in: Option<String>,
}

impl KeptLink {
    /// What later requests that continue this one will leave out; `None` if the provider does not
    /// keep it.
    pub fn of_request(conversation: &str, asked: &Asked<'_>) -> Option<KeptLink> {
        asked.is_kept.then(|| {
            let kept_in = match &asked.continues {
                Some(Continues::Conversation(id)) => Some(id.clone().into_owned()),
                _ => None,
            };
            KeptLink { link: Link::new(conversation, asked, Vec::new()), kept_in }
        })
    }
}

/// Earlier answers that a request refers to instead of carrying them.
#[derive(Debug, Default)]
pub struct EarlierAnswers {
    /// The answer that the request continues.
    continued: Option<Arc<Link>>,
    /// The tool calls that the request only refers to.
    referenced: Vec<Arc<Link>>,
}

impl EarlierAnswers {
    /// Adds to `asked` what it refers to.
    pub fn complete<'a>(&'a self, asked: &mut Asked<'a>) {
        if let Some(link) = &self.continued {
            *asked = link.extend(mem::take(asked));
        }
        self.referenced.iter().for_each(|link| link.resolve(asked));
    }
}

fn has_prompt(asked: &Asked<'_>) -> bool {
    !asked.prompt.is_empty() || !asked.attachments.is_empty()
}

fn owned(texts: &[Cow<'_, str>]) -> Vec<String> {
    texts.iter().map(|text| text.clone().into_owned()).collect()
}

fn borrowed_texts(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| Cow::Borrowed(text.as_str())).collect()
}

fn borrowed<'a>(call: &'a ToolCall<'static>) -> ToolCall<'a> {
    ToolCall { name: Cow::Borrowed(&call.name), arguments: Cow::Borrowed(&call.arguments) }
}

/// The links of all agents, by the id that later requests name. The oldest are evicted first.
#[derive(Debug)]
pub struct Chains(BoundedMap<u128, Arc<Link>>);

impl Chains {
    /// Creates an empty map that never holds more than `limit` bytes.
    pub fn new(limit: usize) -> Chains {
        Chains(BoundedMap::new(limit))
    }

    /// The link of the answer or conversation that `agent` names `id`.
    fn get(&self, agent: &AgentId, id: &str) -> Option<Arc<Link>> {
        self.0.get(key(agent, id)).cloned()
    }

    /// Finds what a request of `agent` refers to.
    pub fn earlier_answers(&self, agent: &AgentId, asked: &Asked<'_>) -> EarlierAnswers {
        EarlierAnswers {
            continued: asked.continues.as_ref().and_then(|it| self.get(agent, it.id())),
            referenced: asked.referenced_items.iter().filter_map(|id| self.get(agent, id)).collect(),
        }
    }

    /// Remembers what later requests leave out that continue `answer`, or that refer to its tool
    /// calls.
    pub fn remember(&mut self, agent: &AgentId, kept: KeptLink, answer: &Answer) {
        let KeptLink { link, kept_in } = kept;
        let tool_calls = answer.answered.as_ref().map(|answered| &answered.tool_calls[..]).unwrap_or_default();
        let link = Arc::new(link.answered(tool_calls.to_vec()));
        for name in answer.id.as_deref().into_iter().chain(kept_in.as_deref()) {
            self.put(agent, name, Arc::clone(&link));
        }
        for (item, place) in &answer.call_items {
            if let Some(tool_call) = tool_calls.get(*place) {
                self.put(agent, item, Arc::new(Link::to_call(tool_call.clone())));
            }
        }
    }

    /// Stores `link` under `id`, replacing an earlier one.
    fn put(&mut self, agent: &AgentId, id: &str, link: Arc<Link>) {
        let size = link.size();
        self.0.insert(key(agent, id), link, size);
    }
}

/// The key includes the agent: ids of different agents are unrelated.
fn key(agent: &AgentId, id: &str) -> u128 {
    XxHash3_128::oneshot(&[agent.as_str().as_bytes(), &[0], id.as_bytes()].concat())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn agent(name: &str) -> AgentId {
        AgentId::parse(name).unwrap()
    }

    fn call(arguments: &'static str) -> ToolCall<'static> {
        ToolCall { name: "run".into(), arguments: arguments.into() }
    }

    fn asks(prompt: &'static str) -> Asked<'static> {
        Asked { prompt: vec![prompt.into()], ..Asked::default() }
    }

    fn gives(result: &'static str) -> Asked<'static> {
        Asked { tool_results: vec![result.into()], depth: 1, ..Asked::default() }
    }

    #[test]
    fn link_places_a_step_in_its_turn() {
        let first = Link::new("c", &asks("Fix it"), vec![call("{1}")]);
        let asked = first.extend(gives("a"));
        assert_eq!(asked.prompt, ["Fix it"]);
        assert_eq!((asked.turn_position, asked.depth, asked.session.as_deref()), (0, 2, Some("c")));
        assert_eq!((&asked.tool_calls, &*asked.tool_results), (&vec![call("{1}")], &["a".into()][..]));
        let second = Link::new("c", &asked, vec![]).answered(vec![call("{2}")]);
        let asked = second.extend(gives("b"));
        assert_eq!((asked.turn_position, asked.depth), (0, 4));
        assert_eq!(asked.tool_calls, [call("{2}")]);
    }

    #[test]
    fn link_counts_a_new_message_as_the_next_turn() {
        let first = Link::new("c", &asks("Fix it"), vec![call("{}")]);
        let asked = first.extend(asks("Thanks"));
        assert_eq!((asked.turn_position, asked.depth, &*asked.prompt), (1, 0, &["Thanks".into()][..]));
        assert!(asked.tool_calls.is_empty());
        let silent = Link::new("c", &Asked::default(), vec![]);
        assert_eq!(silent.extend(asks("Hi")).turn_position, 0);
    }

    #[test]
    fn message_after_results_continues_the_turn() {
        let first = Link::new("c", &asks("Fix it"), vec![call("{1}")]);
        let asked = first.extend(Asked { prompt: vec!["Hurry".into()], ..gives("a") });
        assert_eq!((asked.turn_position, asked.depth, &*asked.prompt), (0, 2, &["Hurry".into()][..]));
        assert_eq!(
            (asked.turn_message.as_deref(), &asked.tool_calls),
            (Some(&["Fix it".into()][..]), &vec![call("{1}")])
        );
        let second = Link::new("c", &asked, vec![call("{2}")]);
        let asked = second.extend(gives("b"));
        assert_eq!(
            (asked.turn_message.as_deref(), &*asked.prompt),
            (Some(&["Fix it".into()][..]), &["Hurry".into()][..])
        );
    }

    #[test]
    fn client_session_precedes_the_link() {
        let link = Link::new("c", &asks("Fix it"), vec![]);
        let asked = Asked { session: Some("mine".into()), ..asks("Hi") };
        assert_eq!(link.extend(asked).session.as_deref(), Some("mine"));
    }

    #[test]
    fn links_are_bounded_by_their_sizes_and_belong_to_one_agent() {
        let link = || Arc::new(Link::new("c", &asks("Fix it"), vec![call("{}")]));
        let mut chains = Chains::new(10 * link().size());
        for id in 0..100 {
            chains.put(&agent("a"), &id.to_string(), link());
            chains.put(&agent("a"), "the same again", link());
        }
        assert!(chains.get(&agent("a"), "91").is_some() && chains.get(&agent("a"), "the same again").is_some());
        assert!(chains.get(&agent("a"), "90").is_none() && chains.get(&agent("b"), "99").is_none());
    }
}
