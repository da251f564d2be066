//! Parts of a text that differ every time and mean nothing: ids, hashes, clocks, addresses,
//! durations.

use crate::clock::written;
use crate::rng::{BASE36, BASE62, BASE64, CROCKFORD, DIGITS, HEX, Rng, UPPER_HEX, URL_SAFE};

/// One kind of volatile part, with a line in which it usually stands.
#[derive(Clone, Copy)]
pub(crate) struct Volatile {
    pub(crate) name: &'static str,
    /// The line as programs write it; `{}` stands for the part.
    line: &'static str,
    part: fn(&mut Rng, i64) -> String,
}

impl Volatile {
    /// The part alone.
    pub(crate) fn part(&self, rng: &mut Rng, now: i64) -> String {
        (self.part)(rng, now)
    }

    /// The whole line.
    pub(crate) fn line(&self, rng: &mut Rng, now: i64) -> String {
        self.line.replace("{}", &self.part(rng, now))
    }

    pub(crate) fn any(rng: &mut Rng) -> Volatile {
        rng.pick(KINDS)
    }
}

macro_rules! kinds {
    ($($name:literal, $line:literal, $part:expr;)*) => {
        /// Every kind.
        pub(crate) const KINDS: &[Volatile] = &[$(Volatile { name: $name, line: $line, part: $part }),*];
    };
}

kinds! {
    "uuid", "correlation id: {}", |rng, _| uuid(rng);
    "uuid_hex", "trace_id={}", |rng, _| rng.text(HEX, 32);
    "git_long", "HEAD is now at {}", |rng, _| rng.text(HEX, 40);
    "git_short", "[main {}] snapshot", |rng, _| git_short(rng);
    "ulid", "event {} stored", |rng, _| format!("01K{}", rng.text(CROCKFORD, 23));
    "nanoid", "ref: {}", |rng, _| rng.text(URL_SAFE, 21);
    "base62_prefix", "request_id: req_{}", |rng, _| rng.text(BASE62, 24);
    "call_id", "(call_{})", |rng, _| rng.text(BASE62, 24);
    "base64", "continuation: {}=", |rng, _| rng.text(BASE64, 43);
    "jwt", "token eyJhbGciOiJIUzI1NiJ9.{}", |rng, _| format!("{}.{}", rng.text(URL_SAFE, 60), rng.text(URL_SAFE, 43));
    "aws_dynamodb", "RequestId: {}", |rng, _| rng.text("0123456789ABCDEFGHIJKLMNOPQRSTUV", 52);
    "aws_s3", "(Service: Amazon S3; Status Code: 404; Request ID: {})", |rng, _| rng.text(UPPER_HEX, 16);
    "temp_name", "see /tmp/tmp{}/report.txt", |rng, _| rng.text("abcdefghijklmnopqrstuvwxyz0123456789_", 8);
    "mktemp", "log in /tmp/build.{}", |rng, _| rng.text(BASE62, 10);
    "rfc1123", "Date: {}", |_, now| written(now, "%a, %d %b %Y %H:%M:%S GMT");
    "iso8601", "at {}", |rng, now| format!("{}{:03}Z", written(now, "%Y-%m-%dT%H:%M:%S.%3f"), rng.range(0..=999));
    "sql_time", "now() = {}", |rng, now| format!("{}{:03}+00", written(now, "%Y-%m-%d %H:%M:%S.%3f"), rng.range(0..=999));
    "clock", "[{}] no change", |_, now| written(now, "%H:%M:%S");
    "clock_12h", "checked at {}", |_, now| written(now, "%I:%M:%S %p");
    "ctime", "{}", |_, now| written(now, "%a %b %e %H:%M:%S %Y");
    "syslog", "{} host app: idle", |_, now| written(now, "%b %e %H:%M:%S");
    "epoch_seconds", "ts={}", |_, now| (now / 1000).to_string();
    "epoch_millis", "\"time\": {}", |rng, now| (now + rng.range(0..=999)).to_string();
    "ipv4_port", "connection from {} closed", |rng, _| format!("10.0.{}.{}:{}", rng.range(0..=9), rng.range(2..=250), rng.range(32_768..=60_999));
    "ipv6", "peer [{}] closed", |rng, _| ipv6(rng);
    "pid", "worker (pid {}) exited", |rng, _| rng.range(2_000..=99_000).to_string();
    "port", "listening on port {}", |rng, _| rng.range(32_768..=60_999).to_string();
    "duration", "finished in {}s", |rng, _| format!("0.{:02}", rng.range(11..=97));
    "duration_ms", "took {} ms", |rng, _| rng.range(180..=940).to_string();
    "size_jitter", "transferred {} KB", |rng, _| format!("48.{:02}", rng.range(0..=99));
    "load_average", "load average: {}", |rng, _| format!("0.{:02}, 0.{:02}, 0.{:02}", rng.range(30..=70), rng.range(30..=70), rng.range(30..=70));
    "address", "<Session object at 0x7f{}>", |rng, _| rng.text(HEX, 10);
    "etag", "ETag: W/\"{}\"", |rng, _| rng.text(HEX, 32);
    "sha256", "digest: sha256:{}", |rng, _| rng.text(HEX, 64);
    "container", "container {} exited", |rng, _| rng.text(HEX, 12);
    "traceparent", "traceparent: {}", |rng, _| format!("00-{}-{}-01", rng.text(HEX, 32), rng.text(HEX, 16));
    "object_id", "_id: {}", |rng, _| format!("65{}", rng.text(HEX, 22));
    "snowflake", "message 11{}", |rng, _| rng.text(DIGITS, 16);
    "pod", "pod api-7d9f8b6c5d-{}", |rng, _| rng.text("bcdfghjklmnpqrstvwxz2456789", 5);
    "ray_id", "cf-ray: {}", |rng, _| format!("8f{}-FRA", rng.text(HEX, 14));
    "short_base36", "job {}", |rng, _| format!("{}{}", rng.range(1..=9), rng.text(BASE36, 7));
    "chunk_header", "{}", |rng, _| chunk_header(rng);
}

pub(crate) fn uuid(rng: &mut Rng) -> String {
    let lengths = [8, 4, 4, 4, 12];
    lengths.map(|length| rng.text(HEX, length)).join("-")
}

/// Seven hexadecimal digits, one letter at least: what `git` abbreviates to.
fn git_short(rng: &mut Rng) -> String {
    format!("{}{}{}", rng.text(HEX, 3), rng.text("abcdef", 1), rng.text(HEX, 3))
}

fn ipv6(rng: &mut Rng) -> String {
    let groups: Vec<String> = (0..4).map(|_| format!("{:x}", rng.range(1..=65_535))).collect();
    format!("2001:db8:{}::{}", groups[..2].join(":"), groups[2..].join(":"))
}

/// The lines that Codex writes above every output.
fn chunk_header(rng: &mut Rng) -> String {
    format!(
        "Chunk ID: {}\nWall time: 0.{:04} seconds\nProcess exited with code 1\nOriginal token count: {}\nOutput:",
        rng.text(HEX, 6),
        rng.range(100..=9_900),
        rng.range(31..=36)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_differs_each_time() {
        for kind in KINDS {
            let mut rng = Rng::named(kind.name, 1);
            let lines: std::collections::BTreeSet<String> =
                (0..12).map(|step| kind.line(&mut rng, 1_763_422_622_043 + step * 7_000)).collect();
            assert!(lines.len() >= 10, "{}: {lines:?}", kind.name);
        }
    }
}
