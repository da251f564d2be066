//! The score: how much the newest call of a window looks like the calls before it.

use model::{Counting, Exemption, Fingerprint, Likeness, Matched, MatchedCall, Outcome, SignalCounts, TextHash};

use crate::exemptions::Exemptions;
use crate::judge::{Judge, Marks};
use crate::window::PackedFingerprint;

/// What the last call of `window` has in common with the earlier ones.
pub(crate) fn signals(window: Vec<&PackedFingerprint>, counting: Counting, exemptions: &Exemptions) -> SignalCounts {
    let Some(judge) = Judge::new(window, counting) else {
        return SignalCounts::default();
    };
    if exemptions.is_empty() {
        return judge.counts();
    }
    let mut marks = judge.marks();
    exemptions.lift(&judge, &mut marks);
    Marks::count(&marks)
}

/// The score of the last call of `window` as it would have been with `exemptions`: the same rules
/// as live.
pub fn rescore(window: &[Fingerprint], counting: Counting, exemptions: &[Exemption]) -> SignalCounts {
    let entries: Vec<PackedFingerprint> = window.iter().map(PackedFingerprint::from).collect();
    signals(entries.iter().collect(), counting, &Exemptions::from(exemptions.to_vec()))
}

/// The calls that made the score of the last call of `window`, and why; that call comes last.
pub(crate) fn matches(window: &[&PackedFingerprint], counting: Counting, exemptions: &Exemptions) -> Vec<MatchedCall> {
    let (Some(judge), Some((current, all))) = (Judge::new(window.to_vec(), counting), window.split_last()) else {
        return Vec::new();
    };
    let compared = Compared { current, newest: judge.newest_response(), counting };
    let mut marks = judge.marks();
    exemptions.lift(&judge, &mut marks);
    let mut considered = judge.considered().iter().zip(marks).peekable();
    let mut matches: Vec<MatchedCall> = Vec::new();
    for call in all {
        // Calls that a rule leaves out are evidence only if they failed.
        let marks = considered.next_if(|(next, _)| next.call == call.call).map(|(_, marks)| marks).unwrap_or_default();
        let matched = compared.why(call, marks);
        if !matched.is_empty() {
            matches.push(MatchedCall { call: call.call, matched, alike: compared.alike(call, marks) });
        }
    }
    matches.push(MatchedCall { call: current.call, matched: vec![Matched::Trigger], alike: Vec::new() });
    matches
}

/// What earlier calls are compared with.
struct Compared<'w> {
    current: &'w PackedFingerprint,
    /// The call with the newest response.
    newest: Option<&'w PackedFingerprint>,
    counting: Counting,
}

impl Compared<'_> {
    fn why(&self, call: &PackedFingerprint, marks: Marks) -> Vec<Matched> {
        let is_newest = self.newest.is_some_and(|newest| newest.call == call.call);
        let reasons = [
            (Matched::Prompt, marks.prompt),
            (Matched::Response, marks.response || is_newest),
            (Matched::ToolCall, marks.tool_calls),
            (Matched::Failed, call.outcome() == Outcome::Failed),
        ];
        reasons.into_iter().filter(|(_, holds)| *holds).map(|(matched, _)| matched).collect()
    }

    fn alike(&self, call: &PackedFingerprint, marks: Marks) -> Vec<Likeness> {
        let likeness = |by, with: &PackedFingerprint, distance| Likeness { by, with: with.call, distance };
        let prompt = marks
            .prompt
            .then(|| likeness(Matched::Prompt, self.current, distance(call.prompt(), self.current.prompt())));
        let response = self
            .newest
            .filter(|_| marks.response)
            .map(|newest| likeness(Matched::Response, newest, distance(self.response(call), self.response(newest))));
        let tool_calls = marks.tool_calls.then(|| likeness(Matched::ToolCall, self.current, None));
        [prompt, response, tool_calls].into_iter().flatten().collect()
    }

    fn response(&self, call: &PackedFingerprint) -> Option<TextHash> {
        match self.counting {
            Counting::Literal => call.response().map(|response| response.literal),
            Counting::Adaptive => call.response().map(|response| response.adaptive),
        }
    }
}

fn distance(one: Option<TextHash>, other: Option<TextHash>) -> Option<u32> {
    one.zip(other).map(|(one, other)| one.distance(other))
}
