//! The validity period of a certificate. Only these two dates are parsed here; rustls checks the
//! rest.

use model::Timestamp;

use super::EXPIRES_SOON_MILLIS;

/// The validity period of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) begins: Timestamp,
    pub(super) ends: Timestamp,
}

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

impl Validity {
    /// Reads the dates of a certificate in DER (RFC 5280, 4.1).
    pub(super) fn read(certificate: &[u8]) -> Option<Validity> {
        let (SEQUENCE, certificate, _) = element(certificate)? else { return None };
        let (SEQUENCE, mut fields, _) = element(certificate)? else { return None };
        if let (VERSION, _, rest) = element(fields)? {
            fields = rest;
        }
        // Serial number, signature algorithm and issuer precede the dates.
        for _ in 0..3 {
            fields = element(fields)?.2;
        }
        let (SEQUENCE, dates, _) = element(fields)? else { return None };
        let (tag, begins, rest) = element(dates)?;
        let begins = time(tag, begins)?;
        let (tag, ends, _) = element(rest)?;
        Some(Validity { begins, ends: time(tag, ends)? })
    }

    /// The warning about the dates at `now`, if any.
    pub(super) fn warning(self, now: Timestamp) -> Option<String> {
        let left = self.ends.as_millis().saturating_sub(now.as_millis());
        if left <= 0 {
            return Some(format!("the certificate expired at {}: clients refuse it", self.ends));
        }
        if self.begins > now {
            return Some(format!("the certificate holds from {} only: clients refuse it until then", self.begins));
        }
        (left < EXPIRES_SOON_MILLIS).then(|| format!("the certificate expires at {}", self.ends))
    }
}

/// The first element of `bytes`: its tag, its content, and the rest.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // 0x80 is an indefinite length, which DER does not allow.
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// A time of a certificate: always in UTC and with seconds.
fn time(tag: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let text = match tag {
        // A two-digit year means 1950 to 2049.
        UTC_TIME => format!("{}{text}", if text < "50" { "20" } else { "19" }),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let (date, time) = (text.get(..8)?, text.get(8..14)?);
    let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
    let (hour, minute, second) = (&time[..2], &time[2..4], &time[4..]);
    Timestamp::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}
