//! Normalises the names of models, which may have a date, a version, a region, a vendor, capitals,
//! or dots for dashes.

/// Vendor prefixes of model names, and the providers they belong to.
pub(super) const VENDORS: [(&str, &str); 14] = [
    ("openai", "openai"),
    ("anthropic", "anthropic"),
    ("google", "google"),
    ("gemini", "google"),
    ("mistralai", "mistral"),
    ("mistral", "mistral"),
    ("deepseek", "deepseek"),
    ("moonshotai", "moonshot"),
    ("moonshot", "moonshot"),
    ("z-ai", "zhipu"),
    ("zai", "zhipu"),
    ("minimax", "minimax"),
    ("x-ai", "xai"),
    ("xai", "xai"),
];

/// Prefixes that do not affect the price.
const PREFIXES: [&str; 11] = [
    "models/",
    "accounts/fireworks/models/",
    "us.",
    "eu.",
    "apac.",
    "global.",
    "jp.",
    "au.",
    "ca.",
    "anthropic.",
    "openai.",
];

/// Suffixes that replace a date.
const ENDINGS: [&str; 5] = ["-latest", "-preview", "-beta", "-exp", "-default"];

/// The key of a model: lower case, without prefixes, with dashes for dots and `@`.
pub(super) fn key(model: &str) -> String {
    let lower = model.trim().to_ascii_lowercase();
    let mut name = lower.as_str();
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        name = rest;
    }
    let name = without_own_vendor(name);
    // The base of a fine-tuned model: `ft:gpt-4o-mini-2024-07-18:acme::9x`.
    let name = match name.strip_prefix("ft:").and_then(|tuned| tuned.find(':')) {
        Some(end) => &name[..end + "ft:".len()],
        None => name,
    };
    name.replace(['.', '@'], "-")
}

/// `openai/gpt-4o` is `gpt-4o`; `meta-llama/llama-3.3-70b` keeps its vendor, which is part of the
/// name there.
fn without_own_vendor(name: &str) -> &str {
    vendor(name).map_or(name, |(_, rest)| rest)
}

/// The vendor of a model and the model's name there, if the name has a vendor:
/// `anthropic/claude-sonnet-4.5`.
pub(super) fn vendor(model: &str) -> Option<(&'static str, &str)> {
    let (vendor, rest) = model.split_once('/')?;
    let known = VENDORS.iter().find(|(name, _)| name.eq_ignore_ascii_case(vendor));
    known.map(|(_, provider)| (*provider, rest))
}

/// A key without date, version and similar suffixes.
pub(super) fn undated(key: &str) -> &str {
    let mut name = key;
    while let Some(shorter) = without_ending(name) {
        name = shorter;
    }
    name
}

fn without_ending(name: &str) -> Option<&str> {
    if let Some(shorter) = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)) {
        return Some(shorter);
    }
    // Bedrock's versions: `-v1:0`.
    if let Some((rest, version)) = name.rsplit_once("-v")
        && version.split_once(':').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
    {
        return Some(rest);
    }
    let (rest, last) = name.rsplit_once('-')?;
    match (last.len(), is_number(last)) {
        // `-20250929`, `-0613`, `-001`; two digits only as part of a whole date.
        (8 | 4 | 3, true) => Some(without_month(rest, last)),
        (2, true) => without_year_and_month(rest),
        _ => None,
    }
}

/// `-09-2025`: the month before a year.
fn without_month<'a>(rest: &'a str, year: &str) -> &'a str {
    match rest.rsplit_once('-') {
        Some((name, month)) if year.len() == 4 && year.starts_with("20") && is_digits(month, 2) => name,
        _ => rest,
    }
}

/// `-2024-08` before a day.
fn without_year_and_month(rest: &str) -> Option<&str> {
    let (rest, month) = rest.rsplit_once('-')?;
    let (name, year) = rest.rsplit_once('-')?;
    (is_digits(month, 2) && is_digits(year, 4)).then_some(name)
}

/// Whether `key` is a newer model than `known`, given the same undated name.
pub(super) fn is_newer(key: &str, known: &str) -> bool {
    let latest = |key: &str| key.ends_with("-latest");
    (latest(key), key) > (latest(known), known)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_digits(text: &str, count: usize) -> bool {
    text.len() == count && is_number(text)
}
