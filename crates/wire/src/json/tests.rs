#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;

use super::*;

/// Any JSON value, with white space and escapes as serde_json writes them.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let scalar = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    scalar.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Whether serde_json accepts the text, apart from invalid escapes and control characters in
/// strings.
fn serde_accepts(text: &str) -> bool {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    let mut in_string = false;
    while let Some(character) = characters.next() {
        in_string ^= character == '"';
        plain.push(match character {
            '\\' => characters.next().map_or('\\', |_| '_'),
            control if control < ' ' && in_string => '_',
            other => other,
        });
    }
    serde_json::from_str::<serde::de::IgnoredAny>(&plain).is_ok()
}

proptest! {
    #[test]
    fn accepts_what_serde_json_writes(value in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert_eq!(Json::parse(&text).map(Json::raw), Ok(text.as_str()));
    }

    #[test]
    fn agrees_with_serde_json_on_damaged_text(
        value in any_json(),
        at: prop::sample::Index,
        byte in prop::sample::select(b"{}[]\",:\\u0-.e1tn x\x07".to_vec()),
        insert: bool,
    ) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        let place = at.index(bytes.len());
        if insert { bytes.insert(place, byte) } else { bytes[place] = byte }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            prop_assert_eq!(Json::parse(text).is_ok(), serde_accepts(text), "{}", text);
        }
    }

    #[test]
    fn reads_strings_as_serde_json_does(text: String) {
        let written = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(Json::parse(&written).unwrap().text().unwrap(), text);
    }
}

#[test]
fn unusual_strings_are_accepted() {
    let check =
        |written: &str, text: &str| assert_eq!(Json::parse(written).unwrap().text().unwrap(), text, "{written}");
    check(r#""""#, "");
    check(r#""\u00e9\/\b\f\"""#, "é/\u{8}\u{c}\"");
    check(r#""\ud83d\ude00!""#, "😀!");
    check(r#""cut \ud83d""#, "cut \u{fffd}");
    check(r#""\ude00\ud83dx""#, "\u{fffd}\u{fffd}x");
    check(r#""\ud83d\u0041""#, "\u{fffd}A");
    check(r#""no such \escape""#, "no such escape");
    check(r#""\éa\u12g4\u""#, "éau12g4u");
}

#[test]
fn unusual_json_texts_are_accepted() {
    for bad in [
        "",
        " ",
        "01",
        "-",
        "1.",
        "1e",
        "tru",
        "\"\\\"",
        "[1,]",
        "{\"a\":1,}",
        "{1:2}",
        "[1}",
        "1 2",
        "Na",
        "-NaN",
        "+Infinity",
        "-Inf",
        "nan",
    ] {
        assert_eq!(Json::parse(bad), Err(Malformed::Invalid), "{bad:?}");
    }
    for good in [
        "0",
        "-0.5e+7",
        " [ ] ",
        "{ \"a\" : [ 1 , { } ] }",
        "\"\u{7f}\u{2028}\"",
        "\"\n\"",
        "\"\\\n\"",
        "[NaN,-Infinity,Infinity]",
    ] {
        assert!(Json::parse(good).is_ok(), "{good:?}");
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    for depth in [1, 127, 128, 129, 200, 255, 256, 257, 1024] {
        assert!(Json::parse(&nested(depth)).is_ok(), "{depth}");
        let mixed = "{\"a\":[1,".repeat(depth / 2) + "7" + &"],\"b\":{}}".repeat(depth / 2);
        assert!(Json::parse(&mixed).is_ok(), "{depth}");
        let crossed = "{\"a\":[1,".repeat(depth / 2) + "7" + &"}]".repeat(depth / 2);
        assert_eq!(Json::parse(&crossed).is_ok(), depth == 1, "{depth}");
    }
    assert_eq!(Json::parse(&nested(1025)), Err(Malformed::TooDeep));
    assert_eq!(Json::parse(&"{\"a\":".repeat(100_000)), Err(Malformed::TooDeep));
}

#[test]
fn the_last_of_duplicate_keys_wins() {
    let value = Json::parse(r#"{"a":1,"b":2,"\u0061":3}"#).unwrap();
    assert_eq!(value.field("a").and_then(Json::number), Some(3));
}
