//! How well the SimHash tells texts apart, measured on what users wrote in recorded runs (JSON
//! Lines with `messages`, as `agentgazer replay` reads them, unpacked): `cargo run --release -p
//! measure --bin simhash_quality -- FILE…`. What differs only in numbers must be at a distance
//! below 3, unrelated texts above 5.

#![allow(clippy::print_stdout, reason = "a tool for people")]

use std::collections::BTreeSet;
use std::error::Error;

use guard::{Numbers, text_hash};
use serde_json::Value;

/// Texts with fewer words are judged by other rules.
const FEWEST_WORDS: usize = 8;
/// Enough for a rate, few enough to wait for.
const PAIRS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<Vec<String>> = std::env::args().skip(1).map(|file| texts(&file)).collect::<Result<_, _>>()?;
    let all: Vec<&String> = files.iter().flatten().collect();
    println!("{} different texts of {} words and more in {} files", all.len(), FEWEST_WORDS, files.len());
    report("numbers changed", all.iter().filter_map(|text| Some((text.as_str(), with_other_numbers(text)?))));
    for (fewest, most) in [(8, 49), (50, 199), (200, usize::MAX)] {
        let name = format!("one word of {fewest} and more changed");
        let of_length = all.iter().filter(|text| (fewest..=most).contains(&text.split_whitespace().count()));
        report(&name, of_length.map(|text| (text.as_str(), with_another_word(text))));
    }
    report("another text of the same file", files.iter().flat_map(|texts| pairs(texts, texts, 1)));
    let others = files
        .iter()
        .enumerate()
        .flat_map(|(place, texts)| files[place + 1..].iter().flat_map(move |others| pairs(texts, others, 0)));
    report("a text of another file", others);
    Ok(())
}

/// What users wrote in the runs of a file, each text once.
fn texts(file: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut texts = BTreeSet::new();
    for line in std::fs::read_to_string(file)?.lines() {
        let run: Value = serde_json::from_str(line)?;
        let messages = run["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let written = messages.iter().filter(|message| message["role"] == "user");
        texts.extend(written.filter_map(|message| message["content"].as_str()).map(str::to_owned));
    }
    Ok(texts.into_iter().filter(|text| text.split_whitespace().count() >= FEWEST_WORDS).collect())
}

/// Every number turned into another one, parts of dates, clock times and ids aside: a 13th month is
/// no month any more. None if there is nothing to change.
fn with_other_numbers(text: &str) -> Option<String> {
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        changed.push_str(&rest[..start]);
        let end = rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |length| start + length);
        let neighbours = [changed.chars().next_back(), rest[end..].chars().next()];
        let is_part = neighbours.into_iter().flatten().any(|c| c.is_ascii_alphanumeric() || c == '-' || c == ':');
        let other = |digit: char| if is_part { digit } else { char::from(b'1' + (digit as u8 + 3) % 9) };
        changed.extend(rest[start..end].chars().map(other));
        rest = &rest[end..];
    }
    changed.push_str(rest);
    (changed != text).then_some(changed)
}

/// The word in the middle replaced.
fn with_another_word(text: &str) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let middle = words.len() / 2;
    words[middle] = if words[middle] == "marmalade" { "cinnamon" } else { "marmalade" };
    words.join(" ")
}

/// Pairs of texts that lie far apart in their lists, `skip` of which are a text and itself.
fn pairs<'t>(one: &'t [String], other: &'t [String], skip: usize) -> Vec<(&'t str, String)> {
    let stride = (one.len().max(other.len()) / 2) | 1;
    let pair = |place: usize| {
        let partner = (place + skip + stride * (1 + place / one.len())) % other.len();
        (one[place % one.len()].as_str(), other[partner].clone())
    };
    let count = PAIRS.min(one.len() * 4);
    (0..count).map(pair).filter(|(one, other)| one != other).collect()
}

/// Prints the rates of a group and how its distances spread.
fn report<'t>(name: &str, pairs: impl Iterator<Item = (&'t str, String)>) {
    let mut counts = [0_usize; 65];
    for (one, other) in pairs {
        if let (Some(one), Some(other)) = (text_hash(one, Numbers::Masked), text_hash(&other, Numbers::Masked)) {
            counts[one.distance(other) as usize] += 1;
        }
    }
    let all: usize = counts.iter().sum();
    let percent = |part: &[usize]| 100.0 * part.iter().sum::<usize>() as f64 / all.max(1) as f64;
    println!("\n{name}: {all} pairs, {:.2} % below 3, {:.2} % above 5", percent(&counts[..3]), percent(&counts[6..]));
    for (from, to) in [(0, 0), (1, 2), (3, 5), (6, 9), (10, 15), (16, 23), (24, 31), (32, 64)] {
        println!("  {from:>2} to {to:>2}: {:>6.2} %", percent(&counts[from..=to]));
    }
}
