//! Makes fingerprints: what is kept of a request, and of the answer to it.

use std::borrow::Cow;

use model::{
    Answered, Asked, CallId, ConversationId, Fingerprint, Novelty, Outcome, ResponsePrint, ResultPrint, Step, StepKind,
    TextHash, Timestamp, ToolCall, ToolStep, Turn,
};
use twox_hash::XxHash3_64;

mod gist;
mod kind;
mod nothing;
mod result;

use crate::canonical::canonical;
use crate::error_text::{says_error, says_error_at_once};
use crate::normalise::{Numbers, words_of};
use crate::targets::{chosen, targets, without_volatile};
use crate::words::{Digest, ExactHash, fold};

/// The part of a fingerprint that the request alone decides, made before the agent is locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RequestPrint {
    pub(crate) conversation: ConversationId,
    pub(crate) body: u64,
    pub(crate) prompt: Option<TextHash>,
    pub(crate) prompt_is_short: bool,
    pub(crate) prompt_is_error: bool,
    pub(crate) prompt_is_common: bool,
    pub(crate) turn: Turn,
    pub(crate) step: Step,
    pub(crate) tools: Option<ToolStep>,
    /// How many seconds the tools say that they waited.
    pub(crate) waited: u16,
}

impl RequestPrint {
    /// The fingerprint of the call that came with this request, as long as nothing has come of it.
    pub(crate) fn arrived(&self, call: CallId, number: u64, time: Timestamp) -> Fingerprint {
        Fingerprint {
            call,
            number,
            time,
            conversation: self.conversation,
            body: self.body,
            prompt: self.prompt,
            prompt_is_short: self.prompt_is_short,
            prompt_is_error: self.prompt_is_error,
            prompt_is_common: self.prompt_is_common,
            turn: self.turn,
            step: self.step,
            tools: self.tools,
            response: None,
            outcome: Outcome::Pending,
            is_sample: false,
            silence: self.waited,
            novelty: Novelty::Neutral,
        }
    }
}

/// What is kept of a prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PromptPrint {
    similar: Option<TextHash>,
    exact: u64,
    is_short: bool,
    is_error: bool,
    is_common: bool,
}

/// What is kept of the prompt that is asked.
pub(crate) fn of_prompt(asked: &Asked<'_>) -> PromptPrint {
    let mut prompt = (ExactHash::default(), Digest::default());
    words_of(asked.prompt.iter().map(Cow::as_ref), Numbers::Masked, &mut prompt);
    let (exact, digest) = &mut prompt;
    let is_error = asked.prompt.first().is_some_and(|text| says_error_at_once(text));
    if is_error {
        // Fewer failures than before are another complaint.
        *exact = ExactHash::default();
        words_of(asked.prompt.iter().map(Cow::as_ref), Numbers::Kept, exact);
    }
    let attachments = attachments_hash(&asked.attachments);
    PromptPrint {
        is_short: asked.attachments.is_empty() && digest.is_short(),
        is_common: asked.attachments.is_empty() && digest.is_common(),
        is_error,
        similar: with_attachments(digest.finish(), attachments),
        exact: match &asked.turn_message {
            Some(message) => hash_of_turn(message),
            None => fold(exact.finish(), attachments),
        },
    }
}

/// A turn that is known by another text than the prompt's.
fn hash_of_turn(message: &[Cow<'_, str>]) -> u64 {
    let mut hash = ExactHash::default();
    words_of(message.iter().map(Cow::as_ref), Numbers::Masked, &mut hash);
    // As that of a prompt without attachments.
    fold(hash.finish(), attachments_hash(&[]))
}

/// What is kept of a request whose bytes have this hash.
pub(crate) fn of_request(conversation: &str, body: u64, asked: &Asked<'_>, prompt: PromptPrint) -> RequestPrint {
    let (tools, waited) = tool_step(asked).map_or((None, 0), |(step, waited)| (Some(step), waited));
    RequestPrint {
        waited,
        conversation: conversation_id(conversation),
        body,
        prompt: prompt.similar,
        prompt_is_short: prompt.is_short,
        prompt_is_error: prompt.is_error,
        prompt_is_common: prompt.is_common && !conversation.starts_with(ConversationId::BY_FIRST_WORDS),
        turn: Turn { message: prompt.exact, position: asked.turn_position },
        step: Step { depth: asked.depth, newest: newest_step(tools, asked.newest_message) },
        tools,
    }
}

/// The id of the conversation that is called `name`.
pub fn conversation_id(name: &str) -> ConversationId {
    ConversationId(XxHash3_64::oneshot(name.as_bytes()))
}

/// 0 if there are none.
fn attachments_hash(attachments: &[&str]) -> u64 {
    attachments.iter().fold(0, |hash, attachment| fold(hash, XxHash3_64::oneshot(attachment.as_bytes())))
}

/// Turning the bits over by a hash keeps the distances of texts with the same attachments, and
/// takes those with others far away. Attachments without words are a prompt too.
fn with_attachments(text: Option<TextHash>, attachments: u64) -> Option<TextHash> {
    match text {
        Some(TextHash(text)) => Some(TextHash(text ^ attachments)),
        None => (attachments != 0).then_some(TextHash(attachments)),
    }
}

/// A tool step is known by what was called and what came of it, since clients rewrite the messages
/// that carry it.
fn newest_step(tools: Option<ToolStep>, newest_message: &str) -> u64 {
    match tools.filter(|step| !step.is_written) {
        Some(step) => fold(step.adaptive, u64::from(step.result.kept)),
        None => XxHash3_64::oneshot(newest_message.as_bytes()),
    }
}

/// A longer result of a look is content, in which any word may stand.
const LONGEST_MESSAGE: usize = 600;

/// How many words a report has at least.
const REPORT: usize = 8;

/// The newest step, and how many seconds its tools say that they waited.
fn tool_step(asked: &Asked<'_>) -> Option<(ToolStep, u16)> {
    if asked.tool_calls.is_empty() {
        return None;
    }
    let signatures: Vec<Signature> = asked.tool_calls.iter().map(Signature::of).collect();
    let is_report =
        || asked.tool_results.iter().map(|result| result.split_whitespace().count()).sum::<usize>() >= REPORT;
    let kind = match kind::of_calls(&asked.tool_calls) {
        // A sub-agent that reports was asked for what it found; one that says that it is done has
        // done something.
        StepKind::Other if asked.tool_calls.iter().all(kind::is_delegation) && is_report() => StepKind::Look,
        kind => kind,
    };
    // A file that was changed may well speak of errors: only the head of the result tells whether
    // it was.
    let says = |result: &str| match kind {
        StepKind::Change => says_error_at_once(result),
        // So may a file that is read.
        StepKind::Look if result.len() > LONGEST_MESSAGE => says_error_at_once(result),
        _ => says_error(result),
    };
    let (mut result, waited) = result::of_results(asked.tool_results.iter().map(Cow::as_ref));
    let is_patch = asked.calls_are_written && asked.tool_calls.iter().all(kind::is_patch);
    let is_error = asked.tool_results.iter().any(|result| says(result) && (!is_patch || kind::is_about_patch(result)));
    let results = asked.tool_results.iter().map(Cow::as_ref);
    if is_error {
        result.gist = gist::of_error(&asked.tool_calls, results).unwrap_or(result.gist);
    } else if let Some(gist) = nothing::gist_of_nothing(&asked.tool_calls, results) {
        result = ResultPrint { gist, is_empty: true, ..result };
    }
    let step = ToolStep {
        literal: together(signatures.iter().map(|call| call.literal)),
        adaptive: together(signatures.iter().map(|call| call.adaptive)),
        result,
        kind,
        is_error,
        is_written: asked.calls_are_written,
    };
    Some((step, waited))
}

/// Hashes of the name and the arguments of a tool call.
struct Signature {
    /// Numbers masked.
    literal: u64,
    /// Numbers kept.
    adaptive: u64,
}

impl Signature {
    fn of(call: &ToolCall<'_>) -> Signature {
        let (name, arguments) = name_and_arguments(call);
        let name = XxHash3_64::oneshot(name.as_bytes());
        let (masked, has_numbers) = exact(&arguments, Numbers::Masked);
        let literal = fold(name, masked);
        let kept = without_volatile(&arguments);
        let is_same = !has_numbers && matches!(kept, Cow::Borrowed(_));
        let adaptive = if is_same { literal } else { fold(name, exact(&kept, Numbers::Kept).0) };
        // What was chosen is another call each time, although it is masked in a text.
        let adaptive = match chosen(&kept) {
            0 => adaptive,
            chosen => fold(adaptive, chosen),
        };
        Signature { literal, adaptive }
    }
}

fn name_and_arguments<'c>(call: &'c ToolCall<'_>) -> (&'c str, Cow<'c, str>) {
    (&call.name, canonical(&call.arguments))
}

/// A hash of a text, and whether a number was masked in it.
fn exact(text: &str, numbers: Numbers) -> (u64, bool) {
    let mut hash = ExactHash::default();
    let has_masked = words_of([text], numbers, &mut hash);
    (hash.finish(), has_masked)
}

/// One hash of several whose order says nothing: parallel calls come back in any.
fn together(hashes: impl ExactSizeIterator<Item = u64>) -> u64 {
    let count = hashes.len() as u64;
    let with = |all: u64, hash: u64| XxHash3_64::oneshot_with_seed(all, &hash.to_le_bytes());
    // Most steps have one call, which need not be put in order.
    if count < 2 {
        return hashes.fold(count, with);
    }
    let mut hashes: Vec<u64> = hashes.collect();
    hashes.sort_unstable();
    hashes.into_iter().fold(count, with)
}

/// What is kept of an answer; none if nothing was said and nothing called.
pub(crate) fn of_answer(answered: &Answered) -> Option<ResponsePrint> {
    let calls: Vec<(&str, Cow<'_, str>)> = answered.tool_calls.iter().map(name_and_arguments).collect();
    let said = |numbers| {
        let called = calls.iter().flat_map(|(name, arguments)| [*name, arguments.as_ref()]);
        let mut digest = Digest::default();
        let has_masked = words_of(std::iter::once(answered.text.as_str()).chain(called), numbers, &mut digest);
        (digest.is_short(), digest.finish(), has_masked)
    };
    let (is_short, literal, has_numbers) = said(Numbers::Masked);
    let literal = literal?;
    let TextHash(adaptive) = if has_numbers { said(Numbers::Kept).1? } else { literal };
    // Turned over by what the calls aim at: the same header written to another file is another
    // answer, however long the header is.
    let aims = calls.iter().fold(0, |aims, (_, arguments)| {
        let arguments = without_volatile(arguments);
        aims ^ targets(&arguments) ^ chosen(&arguments)
    });
    Some(ResponsePrint { literal, adaptive: TextHash(adaptive ^ aims), is_short })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    fn of(asked: &Asked<'_>) -> RequestPrint {
        of_request("conversation", XxHash3_64::oneshot(b"{}"), asked, of_prompt(asked))
    }

    fn with_call<'a>(arguments: &'a str, result: &'a str) -> Asked<'a> {
        let call = ToolCall { name: "search".into(), arguments: arguments.into() };
        Asked { tool_calls: vec![call], tool_results: vec![result.into()], ..Asked::default() }
    }

    #[test]
    fn content_parts_count_like_a_plain_string() {
        let plain = Asked { prompt: vec!["look  at\nthis".into()], ..Asked::default() };
        let parts = Asked { prompt: vec!["look at".into(), "this".into()], ..Asked::default() };
        assert_eq!(of(&plain), of(&parts));
    }

    #[test]
    fn an_attachment_is_part_of_the_prompt() {
        let with = |attachments: Vec<&'static str>| Asked {
            prompt: vec!["what is it".into()],
            attachments,
            ..Asked::default()
        };
        let prompts =
            [vec![], vec!["{1}"], vec!["{2}"], vec!["{1}", "{2}"], vec!["{2}", "{1}"]].map(|them| of(&with(them)));
        for (index, one) in prompts.iter().enumerate() {
            for other in &prompts[index + 1..] {
                assert!(one.prompt.unwrap().distance(other.prompt.unwrap()) > 5);
                assert_ne!(one.turn, other.turn);
            }
        }
        assert!(prompts[0].prompt_is_short);
        assert!(!prompts[1].prompt_is_short, "the same picture again is strong evidence");
        let picture = of(&Asked { attachments: vec!["{1}"], ..Asked::default() });
        assert!(picture.prompt.is_some() && of(&Asked::default()).prompt.is_none());
    }

    #[test]
    fn a_turn_is_known_by_its_own_message() {
        let asks = |prompt: &'static str, turn_message: Option<&'static str>| {
            let turn_message = turn_message.map(|message| vec![message.into()]);
            of(&Asked { prompt: vec![prompt.into()], turn_message, ..Asked::default() })
        };
        let (first, later) = (asks("Fix it", None), asks("Remember the rules", Some("Fix it")));
        assert_eq!(first.turn, later.turn);
        assert_ne!(first.prompt, later.prompt, "the formula compares what the user wrote last");
    }

    #[test]
    fn short_texts() {
        let is_short =
            |text: &'static str| of(&Asked { prompt: vec![text.into()], ..Asked::default() }).prompt_is_short;
        for short in ["continue", "<returncode>0</returncode>\n<output>\n</output>", "yes, go on please", "请继续"] {
            assert!(is_short(short), "{short}");
        }
        for long in ["one two three four five six seven eight", &"x".repeat(64).leak()[..], "请继续完成这个任务吧"]
        {
            assert!(!is_short(long), "{long}");
        }
    }

    #[test]
    fn a_signature_is_the_name_and_the_canonical_arguments() {
        let tools = |arguments, result| of(&with_call(arguments, result)).tools.unwrap();
        let step = tools(r#"{"page": 1, "query": "x"}"#, "3 results");
        assert_eq!(step.adaptive, tools(r#"{"query":"x","page":1}"#, "4 results").adaptive);
        let next = tools(r#"{"page": 2, "query": "x"}"#, "none");
        assert_eq!(step.literal, next.literal);
        assert_ne!(step.adaptive, next.adaptive);
        assert_ne!(step.result.shape, next.result.shape);
        assert_eq!(tools("{broken", "a"), tools(" {broken ", "a"));
        assert_eq!(tools("", "a"), tools("{}", "a"));
        assert_ne!(tools("{broken", "a").adaptive, tools("{}", "a").adaptive);
    }

    #[test]
    fn the_newest_step_is_the_tool_step_or_the_newest_message() {
        let newest = |asked: &Asked<'_>| of(asked).step.newest;
        let call = with_call(r#"{"a":1}"#, "x");
        let marked = Asked { newest_message: r#"{"cache_control":{}}"#, ..call.clone() };
        assert_eq!(newest(&call), newest(&marked), "clients mark messages");
        assert_ne!(newest(&call), newest(&with_call(r#"{"a":1}"#, "y")));
        let message = |newest_message| Asked { newest_message, ..Asked::default() };
        assert_ne!(newest(&message("{1}")), newest(&message("{2}")));
    }

    #[test]
    fn a_response_is_its_words_and_its_calls() {
        let answer = |text: &str, arguments: &'static str| {
            let call = ToolCall { name: "click".into(), arguments: arguments.into() };
            of_answer(&Answered { text: text.to_owned(), tool_calls: vec![call] }).unwrap()
        };
        let one = answer("Let me see.", r#"{"element": 242}"#);
        let other = answer("Let me see.", r#"{"element":247}"#);
        assert_eq!(one.literal, other.literal);
        assert!(one.adaptive.distance(other.adaptive) > 5);
        assert!(one.is_short);
        assert_eq!(of_answer(&Answered::default()), None);
    }

    /// Stored hashes are compared with new ones: these never change.
    #[test]
    fn hashes_are_the_same_in_every_release() {
        let mut asked = with_call(r#"{"page":1}"#, "nothing found");
        asked.prompt = vec!["Find order 5".into()];
        let print = of(&asked);
        let tools = print.tools.unwrap();
        let request = [0x05a8_6108_0a76_802b, 0x1349_cde1_2770_5c16, 0xb4d6_23c5_b2a9_7a09, 0x7651_b827_2bc5_3bf5];
        assert_eq!([print.conversation.0, print.body, print.turn.message, print.step.newest], request);
        assert_eq!([tools.literal, tools.adaptive], [0xfba9_4d34_e8eb_4a3c, 0x267d_d40b_6ea0_f71d]);
        let result = [tools.result.shape, tools.result.kept, tools.result.gist];
        assert_eq!(result, [0x93bc_dcd6, 0x93bc_dcd6, 0x6e6f_6e65]);
    }
}
