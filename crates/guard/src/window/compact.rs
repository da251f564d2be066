//! Packs windows into few bytes, without loss: very many agents make a call or two and never call
//! again, or pause between their tasks.

use model::{CallId, ConversationId, Timestamp};

use super::bytes::{Reader, Writer};
use super::calls::Calls;
use super::packed_fingerprint::{PackedFingerprint, Parts, Place, WORDS};
use super::slab::Key;
use super::{Conversation, FollowedLog, Windows};
use crate::fingerprint::step_hash;

/// Windows with more calls stay open: closing them would take longer than a call may.
const MOST_CALLS: usize = 4_096;

/// How a word of a fingerprint is encoded: it is zero.
const ZERO: u64 = 0;
/// It is the same word as in the previous call.
const SAME: u64 = 1;
/// It follows from the other words of the call.
const EXPECTED: u64 = 2;
const WRITTEN: u64 = 3;

/// A call stands in the window of the agent, or in that of its conversation.
const IN_ALL: u64 = 1;
const IN_CONVERSATION: u64 = 2;

/// The bytes of `windows`; `None` if something would be lost.
pub(super) fn compact(windows: &Windows) -> Option<Box<[u8]>> {
    let FollowedLog { decided, unshared, .. } = &windows.followed;
    let is_waited_for = !decided.is_empty() || !unshared.is_empty();
    if !windows.released.is_empty() || windows.slab.used() > MOST_CALLS || is_waited_for {
        return None;
    }
    let mut writer = Writer::default();
    if windows.newest == 0 && windows.floor == 0 && windows.all.keys().is_empty() {
        return Some(writer.finish());
    }
    let calls = calls_in_order(windows);
    let latest = calls.last().map_or(0, |call| call.entry.time().as_millis());
    writer.difference(latest, 0);
    // Numbers begin with the time.
    writer.difference(windows.newest as i64, latest);
    writer.number(windows.floor);
    writer.number(windows.followed.seen);
    let names = write_conversations(windows, &calls, latest, &mut writer);
    writer.number(calls.len() as u64);
    let mut before = PreviousCall { number: windows.newest, time: latest, words: [0; WORDS] };
    for call in &calls {
        write_call(call, &names, &mut before, &mut writer);
    }
    Some(writer.finish())
}

/// A call with the windows that it is in.
struct Placed<'w> {
    entry: &'w PackedFingerprint,
    is_in_all: bool,
    is_in_conversation: bool,
}

/// The previous call, relative to which the next one is encoded.
struct PreviousCall {
    number: u64,
    time: i64,
    words: [u64; WORDS],
}

/// Every call once, in the order of their numbers, which is also the order in each window.
fn calls_in_order(windows: &Windows) -> Vec<Placed<'_>> {
    let of_conversations = windows.conversations.iter().flat_map(|conversation| conversation.calls.keys());
    let mut keys: Vec<(u64, Key, bool)> = Vec::with_capacity(2 * windows.all.keys().len());
    let number = |key: &Key| windows.slab.get(*key).number();
    keys.extend(windows.all.keys().iter().map(|key| (number(key), *key, false)));
    keys.extend(of_conversations.map(|key| (number(key), *key, true)));
    keys.sort_unstable();
    let mut calls: Vec<Placed<'_>> = Vec::with_capacity(keys.len());
    let mut last = None;
    for (_, key, is_in_conversation) in keys {
        match calls.last_mut().filter(|_| last == Some(key)) {
            Some(call) => call.is_in_conversation |= is_in_conversation,
            None => {
                calls.push(Placed { entry: windows.slab.get(key), is_in_all: !is_in_conversation, is_in_conversation })
            }
        }
        last = Some(key);
    }
    calls
}

/// Writes the conversations that have a window, the least recently used first, then the names of
/// others with calls in the agent's window. Returns the position of each name.
fn write_conversations(windows: &Windows, calls: &[Placed<'_>], latest: i64, writer: &mut Writer) -> Vec<(u64, u64)> {
    let known = windows.conversations.iter().map(|conversation| conversation.id.0);
    let mut names: Vec<(u64, u64)> = known.zip(0..).collect();
    names.sort_unstable();
    let mut others = Vec::new();
    for id in calls.iter().map(|call| call.entry.conversation().0) {
        if let Err(at) = names.binary_search_by_key(&id, |(name, _)| *name) {
            names.insert(at, (id, (windows.conversations.len() + others.len()) as u64));
            others.push(id);
        }
    }
    writer.number(windows.conversations.len() as u64);
    for conversation in &windows.conversations {
        writer.word(conversation.id.0);
        writer.difference(conversation.last_active.as_millis(), latest);
    }
    writer.number(others.len() as u64);
    others.iter().for_each(|id| writer.word(*id));
    names
}

fn write_call(call: &Placed<'_>, names: &[(u64, u64)], before: &mut PreviousCall, writer: &mut Writer) {
    let parts = call.entry.parts();
    let code = |place: usize| match parts.words[place] {
        0 => ZERO,
        word if word == before.words[place] => SAME,
        word if word == expected(&parts.words, place) => EXPECTED,
        _ => WRITTEN,
    };
    let in_conversation = if call.is_in_conversation { IN_CONVERSATION } else { 0 };
    let windows = if call.is_in_all { IN_ALL } else { 0 } | in_conversation;
    let codes = (0..WORDS).rev().fold(0, |codes, place| codes << 2 | code(place));
    let head = parts.flags | windows << Parts::FLAG_BITS | codes << (Parts::FLAG_BITS + 2);
    writer.bytes(&head.to_le_bytes()[..HEAD]);
    writer.difference(parts.number as i64, before.number as i64);
    writer.difference(parts.time, before.time);
    // The id begins with the time, too.
    let id = parts.call.0.as_u128();
    writer.difference((id >> RANDOM_BITS) as i64, parts.time);
    writer.bytes(&id.to_le_bytes()[..RANDOM_BITS / 8]);
    let name = names.binary_search_by_key(&parts.conversation, |(name, _)| *name);
    writer.number(name.map_or(0, |at| names[at].1));
    writer.number(u64::from(parts.turn_position));
    writer.number(u64::from(parts.step_depth));
    writer.number(u64::from(parts.silence));
    (0..WORDS).filter(|place| code(*place) == WRITTEN).for_each(|place| writer.word(parts.words[place]));
    *before = PreviousCall { number: parts.number, time: parts.time, words: parts.words };
}

/// The random bits of an id, behind its time.
const RANDOM_BITS: usize = 80;

/// Flags, two bits for the windows and two for each word, in bytes.
const HEAD: usize = (Parts::FLAG_BITS as usize + 2 + 2 * WORDS).div_ceil(8);

/// The usual value of a word, given the words before it.
fn expected(words: &[u64; WORDS], place: usize) -> u64 {
    match place {
        // The two hashes of a text without numbers are the same.
        Place::TOOLS_ADAPTIVE | Place::RESPONSE_ADAPTIVE => words[place - 1],
        Place::GIST => words[Place::RESULT] & u64::from(u32::MAX),
        Place::STEP_NEWEST => step_hash(words[Place::TOOLS_ADAPTIVE], (words[Place::RESULT] >> 32) as u32),
        _ => 0,
    }
}

/// Windows as they were when they were closed.
pub(super) fn expand(bytes: &[u8]) -> Windows {
    let mut windows = Windows::default();
    if bytes.is_empty() {
        return windows;
    }
    let mut reader = Reader(bytes);
    let latest = reader.difference(0);
    windows.newest = reader.difference(latest) as u64;
    windows.floor = reader.number();
    windows.followed.seen = reader.number();
    let mut names = Vec::new();
    for _ in 0..reader.number() {
        let id = reader.word();
        let last_active = Timestamp::from_millis(reader.difference(latest));
        names.push(id);
        windows.conversations.reserve_exact(1);
        windows.conversations.push(Conversation { id: ConversationId(id), calls: Calls::default(), last_active });
    }
    let others = reader.number();
    names.extend((0..others).map(|_| reader.word()));
    let mut before = PreviousCall { number: windows.newest, time: latest, words: [0; WORDS] };
    let count = reader.number();
    windows.slab.reserve(count as usize);
    for _ in 0..count {
        let (parts, is_in, name) = read_call(&mut reader, &mut before);
        let conversation = names.get(name).copied().unwrap_or_default();
        windows.put_back(PackedFingerprint::from(Parts { conversation, ..parts }), is_in, name);
    }
    windows
}

/// A call without its conversation, the windows that it is in, and the position of its
/// conversation's name.
fn read_call(reader: &mut Reader<'_>, before: &mut PreviousCall) -> (Parts, u64, usize) {
    let mut head = [0; 8];
    head[..HEAD].copy_from_slice(&reader.bytes::<HEAD>());
    let head = u64::from_le_bytes(head);
    let number = reader.difference(before.number as i64) as u64;
    let time = reader.difference(before.time);
    let mut random = [0; 16];
    let id_time = reader.difference(time) as u128;
    random[..RANDOM_BITS / 8].copy_from_slice(&reader.bytes::<{ RANDOM_BITS / 8 }>());
    let call = CallId::from_bytes((id_time << RANDOM_BITS | u128::from_le_bytes(random)).to_be_bytes());
    let name = reader.number() as usize;
    let (turn_position, step_depth, silence) = (reader.number(), reader.number(), reader.number());
    let mut words = [0; WORDS];
    for place in 0..WORDS {
        words[place] = match head >> (Parts::FLAG_BITS + 2) >> (2 * place) & 3 {
            ZERO => 0,
            SAME => before.words[place],
            EXPECTED => expected(&words, place),
            _ => reader.word(),
        };
    }
    *before = PreviousCall { number, time, words };
    let parts = Parts {
        call,
        number,
        flags: head & ((1 << Parts::FLAG_BITS) - 1),
        time,
        conversation: 0,
        turn_position: turn_position as u32,
        step_depth: step_depth as u32,
        silence: silence as u16,
        words,
    };
    (parts, head >> Parts::FLAG_BITS & 3, name)
}

impl Windows {
    /// Adds a call at the end of the windows that it was in.
    fn put_back(&mut self, entry: PackedFingerprint, is_in: u64, conversation: usize) {
        let is_sample = entry.is_sample();
        let key = self.slab.insert(entry);
        if is_in & IN_ALL != 0 {
            self.slab.get_mut(key).enter_window();
            self.all.push(key, is_sample);
        }
        if is_in & IN_CONVERSATION != 0
            && let Some(conversation) = self.conversations.get_mut(conversation)
        {
            self.slab.get_mut(key).enter_window();
            conversation.calls.push(key, is_sample);
        }
        self.note_outcome(key);
    }
}
