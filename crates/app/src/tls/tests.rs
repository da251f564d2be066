//! Dates of certificates. The rest is tested with a running server.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use super::validity::Validity;
use super::*;

fn validity(from: (i32, u8, u8), to: (i32, u8, u8)) -> Validity {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.not_before = date_time_ymd(from.0, from.1, from.2);
    params.not_after = date_time_ymd(to.0, to.1, to.2);
    Validity::read(params.self_signed(&KeyPair::generate().unwrap()).unwrap().der()).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn dates_are_read_in_both_forms() {
    let read = validity((1999, 12, 31), (2030, 2, 3));
    assert_eq!(read, Validity { begins: at("1999-12-31T00:00:00Z"), ends: at("2030-02-03T00:00:00Z") });
    assert_eq!(validity((2026, 1, 1), (2060, 1, 2)).ends, at("2060-01-02T00:00:00Z"), "four digits from 2050 on");
}

#[test]
fn damaged_certificates_have_no_dates() {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.not_after = date_time_ymd(2030, 1, 1);
    let whole = params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec();
    for length in 0..whole.len() {
        assert_eq!(Validity::read(&whole[..length]), None, "{length}");
    }
    assert_eq!(Validity::read(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
}

#[test]
fn certificate_dates_are_warned_of() {
    let check = |now: &str, part: Option<&str>| {
        let warning = validity((2026, 1, 1), (2026, 6, 1)).warning(at(now));
        assert_eq!(warning.is_some(), part.is_some(), "{warning:?}");
        assert!(part.is_none_or(|part| warning.as_deref().unwrap_or_default().contains(part)), "{warning:?}");
    };
    check("2025-12-31T00:00:00Z", Some("holds from 2026-01-01"));
    check("2026-03-01T00:00:00Z", None);
    check("2026-05-20T00:00:00Z", Some("expires at 2026-06-01"));
    check("2026-06-01T00:00:00Z", Some("expired at 2026-06-01"));
}
