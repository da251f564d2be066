//! Words, names and sentences.

use crate::rng::Rng;

pub(crate) const MODULES: &[&str] = &[
    "parser",
    "scheduler",
    "billing",
    "session",
    "cache",
    "router",
    "importer",
    "tokenizer",
    "uploader",
    "inventory",
    "checkout",
    "mailer",
    "search",
    "profile",
    "exporter",
    "queue",
    "ledger",
    "renderer",
    "webhook",
    "migrator",
    "planner",
    "throttle",
    "catalog",
    "discount",
    "report",
    "thumbnail",
    "geocoder",
    "invoice",
    "audit",
    "consent",
];

pub(crate) const VERBS: &[&str] = &[
    "load", "merge", "split", "resolve", "validate", "format", "apply", "collect", "refresh", "encode", "decode",
    "flush", "retry", "compare", "expand", "trim", "index", "rotate", "convert", "attach", "release", "escape",
];

pub(crate) const NOUNS: &[&str] = &[
    "header",
    "record",
    "window",
    "token",
    "amount",
    "customer",
    "address",
    "batch",
    "cursor",
    "limit",
    "offset",
    "payload",
    "region",
    "currency",
    "template",
    "schema",
    "branch",
    "column",
    "shipment",
    "timeout",
    "quota",
    "voucher",
    "holiday",
    "tax",
    "range",
    "entry",
    "bucket",
    "permission",
    "locale",
    "deadline",
    "version",
];

pub(crate) const ADJECTIVES: &[&str] = &[
    "stale",
    "empty",
    "nested",
    "negative",
    "duplicate",
    "missing",
    "trailing",
    "unicode",
    "expired",
    "partial",
    "unsorted",
    "optional",
    "cyclic",
    "oversized",
    "lowercase",
    "quoted",
    "leap-year",
    "escaped",
    "concurrent",
    "late",
];

pub(crate) const CITIES: &[&str] = &[
    "Lisbon", "Osaka", "Tromso", "Quito", "Leipzig", "Nairobi", "Winnipeg", "Hobart", "Tallinn", "Cusco", "Porto",
    "Bergen", "Adelaide", "Kigali", "Valencia", "Graz", "Tampere", "Salta", "Bruges", "Kyoto", "Ghent", "Malmo",
];

pub(crate) const PEOPLE: &[&str] = &[
    "Amara Okafor",
    "Jonas Weber",
    "Mei Tanaka",
    "Lucia Romero",
    "Piotr Zielinski",
    "Noor Haddad",
    "Elin Berg",
    "Tomas Novak",
    "Priya Nair",
    "Ewan Gillies",
    "Chiara Conti",
    "Yusuf Demir",
    "Hana Sato",
    "Marco Pinto",
];

pub(crate) const PRODUCTS: &[&str] = &[
    "desk lamp",
    "trail shoes",
    "espresso machine",
    "bike pump",
    "rain jacket",
    "monitor arm",
    "tent",
    "water filter",
    "headphones",
    "garden hose",
    "notebook",
    "air purifier",
    "yoga mat",
    "cast iron pan",
    "backpack",
    "label printer",
];

/// A path in a project, with the extension of its language.
pub(crate) fn path(rng: &mut Rng) -> String {
    let module = rng.pick(MODULES);
    let noun = rng.pick(NOUNS);
    match rng.below(4) {
        0 => format!("src/{module}/{noun}.rs"),
        1 => format!("app/{module}_{noun}.py"),
        2 => format!("packages/{module}/src/{noun}.ts"),
        _ => format!("internal/{module}/{noun}.go"),
    }
}

/// Different paths.
pub(crate) fn paths(rng: &mut Rng, count: usize) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    while paths.len() < count {
        let path = path(rng);
        let path = if paths.contains(&path) { path.replacen('.', &format!("_{}.", paths.len()), 1) } else { path };
        paths.push(path);
    }
    paths
}

/// A name in code.
pub(crate) fn identifier(rng: &mut Rng) -> String {
    format!("{}_{}", rng.pick(VERBS), rng.pick(NOUNS))
}

/// What a user wants done with code.
pub(crate) fn task(rng: &mut Rng) -> String {
    let (module, noun, adjective) = (rng.pick(MODULES), rng.pick(NOUNS), rng.pick(ADJECTIVES));
    let verb = rng.pick(VERBS);
    match rng.below(5) {
        0 => format!("The {module} fails on a {adjective} {noun}. Find out why, fix it, and make the tests pass."),
        1 => format!("Please make the {module} {verb} each {noun} only once, and add tests for the {adjective} case."),
        2 => {
            format!("Move the {noun} handling out of the {module} into a module of its own; all tests must stay green.")
        }
        3 => format!("We see a regression in {module}: {adjective} {noun} values are dropped. Repair that, please."),
        _ => {
            format!("Add support for a {adjective} {noun} to the {module}, document it, and run the whole test suite.")
        }
    }
}

/// What an agent says before a step of work. Often nothing, as agents do.
pub(crate) fn remark(rng: &mut Rng) -> String {
    let (module, noun, adjective, verb) = (rng.pick(MODULES), rng.pick(NOUNS), rng.pick(ADJECTIVES), rng.pick(VERBS));
    match rng.below(9) {
        0 => format!("The {noun} comes from {module}; I look at where it is made {adjective}."),
        1 => format!("So `{verb}_{noun}` never sees the {adjective} case. I change that now."),
        2 => format!("Next is the {module} side: it should {verb} the {noun} first."),
        3 => format!("That leaves the {adjective} {noun} in {module}."),
        4 => format!("I will {verb} the {noun} before {module} reads it."),
        _ => String::new(),
    }
}

/// Some different texts that fill in one template each.
pub(crate) fn plan_steps(rng: &mut Rng, count: usize) -> Vec<String> {
    let mut step = || {
        let (verb, noun, module) = (rng.pick(VERBS), rng.pick(NOUNS), rng.pick(MODULES));
        match rng.below(3) {
            0 => format!("Let the {module} {verb} the {noun}"),
            1 => format!("Write a test that {module} can {verb} a {noun}"),
            _ => format!("Document how {module} handles the {noun}"),
        }
    };
    (0..count).map(|_| step()).collect()
}
