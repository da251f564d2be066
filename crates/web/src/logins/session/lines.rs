//! Sessions as lines of text: a hash, the end, the time and the address of the login, and the
//! owner. Lines of earlier versions have only the first two fields and belong to the first token.

use std::collections::HashMap;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Timestamp;

use super::{MAX_SESSIONS, Owner, Session};

/// Writes the lines.
pub(super) fn write(open: &HashMap<String, Session>) -> String {
    open.iter().map(|(hash, session)| write_line(hash, session)).collect()
}

/// Writes one line.
pub(super) fn write_line(hash: &str, session: &Session) -> String {
    let (ends_at, opened_at) = (session.ends_at.as_millis(), session.opened_at.as_millis());
    let address = session.address.map_or_else(|| "-".to_owned(), |address| address.to_string());
    let owner = match &session.owner {
        Owner::FirstToken => "-".to_owned(),
        Owner::User { id, version } => format!("{id} {version}"),
        Owner::Federated(person) => {
            // Encoded, because names have spaces.
            let person = serde_json::to_vec(person).unwrap_or_default();
            format!("oidc {} -", URL_SAFE_NO_PAD.encode(person))
        }
    };
    format!("{hash} {ends_at} {opened_at} {address} {owner}\n")
}

/// Reads the lines and skips damaged ones.
pub(super) fn read(text: &str) -> HashMap<String, Session> {
    text.lines().filter_map(line).take(MAX_SESSIONS).collect()
}

fn line(line: &str) -> Option<(String, Session)> {
    let fields: Vec<&str> = line.split(' ').collect();
    let time = |text: &str| text.parse().ok().map(Timestamp::from_millis);
    let (hash, ends_at) = (*fields.first()?, time(fields.get(1)?)?);
    if hash.len() != 64 {
        return None;
    }
    let session = match *fields.get(2..)? {
        [] => Session { owner: Owner::FirstToken, opened_at: Timestamp::default(), ends_at, address: None },
        [opened_at, address, "-"] => {
            Session { owner: Owner::FirstToken, opened_at: time(opened_at)?, ends_at, address: address.parse().ok() }
        }
        [opened_at, address, id, version] => {
            let owner = Owner::User { id: id.to_owned(), version: version.parse().ok()? };
            Session { owner, opened_at: time(opened_at)?, ends_at, address: address.parse().ok() }
        }
        [opened_at, address, "oidc", person, "-"] => {
            let person = URL_SAFE_NO_PAD.decode(person).ok()?;
            let owner = Owner::Federated(serde_json::from_slice(&person).ok()?);
            Session { owner, opened_at: time(opened_at)?, ends_at, address: address.parse().ok() }
        }
        _ => return None,
    };
    Some((hash.to_owned(), session))
}

/// Bytes in hexadecimal.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_an_earlier_version_is_a_session_of_the_first_token() {
        let hash = "a".repeat(64);
        let read = read(&format!("{hash} 5000\n{hash}x 1\n{} 1 2 - user\n", "b".repeat(64)));
        let session = Session {
            owner: Owner::FirstToken,
            opened_at: Timestamp::default(),
            ends_at: Timestamp::from_millis(5000),
            address: None,
        };
        assert_eq!(read, HashMap::from([(hash, session)]));
    }
}
