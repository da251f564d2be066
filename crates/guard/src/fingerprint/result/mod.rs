//! The print of a tool's results: a hash without volatile parts, and one without any number. How
//! the numbers move from one result to the next distinguishes progress (failures that fall, a
//! percentage that rises) from jitter.

use model::ResultPrint;

use crate::fingerprint::digest::fold;
use crate::fingerprint::normalise::{Numbers, words_of};

pub(super) mod client_header;
pub(super) mod error_text;
pub(super) mod gist;
mod hasher;
mod keywords;
pub(super) mod lines;
pub(super) mod nothing;
mod phrases;
mod tokens;
mod volatile;

use hasher::ResultHasher;

/// The print of the results of one step, and how many seconds of waiting they report. Their order
/// does not count: parallel calls come back in any order.
pub(super) fn of_results<'t>(results: impl Iterator<Item = &'t str>) -> (ResultPrint, u16) {
    let mut prints: Vec<(ResultPrint, u16)> = results.map(of_result).collect();
    if let [print] = prints[..] {
        return print;
    }
    prints.sort_unstable_by_key(|(print, _)| (print.shape, print.kept));
    let mut all = (ResultPrint { is_empty: true, is_short: true, ..ResultPrint::default() }, 0);
    for (print, waited) in prints {
        let both = |one: u32, other: u32| fold(u64::from(one), u64::from(other)) as u32;
        all.0.shape = both(all.0.shape, print.shape);
        all.0.kept = both(all.0.kept, print.kept);
        all.0.numbers = std::array::from_fn(|place| all.0.numbers[place] + print.numbers[place]);
        all.0.is_empty &= print.is_empty;
        all.0.is_short &= print.is_short;
        all.1 = all.1.max(waited);
    }
    (ResultPrint { gist: all.0.shape, ..all.0 }, all.1)
}

fn of_result(result: &str) -> (ResultPrint, u16) {
    let mut hasher = ResultHasher::new();
    words_of([result], Numbers::Kept, &mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print_of(text: &str) -> ResultPrint {
        of_results([text].into_iter()).0
    }

    #[test]
    fn volatile_parts_make_no_result_new() {
        for (one, other) in [
            (
                "Chunk ID: 4fe6ad\nWall time: 0.0521 seconds\nProcess exited with code 0",
                "Chunk ID: 91bc0e\nWall time: 1.2043 seconds\nProcess exited with code 0",
            ),
            (
                "Chunk ID: 4fe6ad\nOriginal token count: 31\nOutput:\nno such service",
                "Chunk ID: 91bc0e\nOriginal token count: 36\nOutput:\nno such service",
            ),
            ("started pid 4242 on port 51234", "started pid 977 on port 40000"),
            ("pid=4242 failed", "pid=88 failed"),
            ("[14:03:22] failed", "[14:05:01] failed"),
            ("at 2:03 PM it failed", "at 11:59 PM it failed"),
            ("Tue, 17 Nov 2026 23:55:32 GMT error", "Wed, 18 Nov 2026 00:01:02 GMT error"),
            ("3 failed in 0.43s", "3 failed in 12.1s"),
            ("3 failed in 430 ms", "3 failed in 71 ms"),
            ("took 3m12s", "took 4m01s"),
            ("connect to 10.0.0.7:51344 refused", "connect to 10.0.12.9:4000 refused"),
            ("connect to [2001:db8::1] refused", "connect to [fe80::12ab:1] refused"),
            ("object at 0x7f3a12bc8d10 lost", "object at 0x7f3a99bc0e50 lost"),
            ("{\"ts\":1763423732,\"state\":\"queued\"}", "{\"ts\":1763423999,\"state\":\"queued\"}"),
            ("{\"ts\":1763423732123,\"state\":\"queued\"}", "{\"ts\":1763423999001,\"state\":\"queued\"}"),
            ("wrote /tmp/tmp8x2m0q1z/out", "wrote /tmp/tmpq1w2e3r4/out"),
            ("request req_8f3kd92x failed", "request req_1p2kz9aa failed"),
            ("attempt 3 failed", "attempt 4 failed"),
            ("elapsed: 17 state: queued", "elapsed: 44 state: queued"),
            ("17/Nov/2026:23:55:32 +0000 GET", "18/Nov/2026:01:05:02 +0000 GET"),
            ("11/17/2026 11:55 AM", "12/01/2026 01:02 AM"),
            ("commit 9f86d08 is bad", "commit 1c2d3e4 is bad"),
            ("Chunk ID: 170bee Output:", "Chunk ID: e97c31 Output:"),
            ("Chunk ID: fabcde Output:", "Chunk ID: e97c31 Output:"),
            ("denied (RequestId: 3TKFSP0BDKAXA68T, x)", "denied (RequestId: RHWWVHNQMBCRPZK9, x)"),
            ("load average: 0.57, 0.37, 0.69", "load average: 1.91, 0.04, 2.30"),
            ("[57058] 11/Mar/2026 09:14:19 AM closed", "[3083] 11/Mar/2026 09:14:20 AM closed"),
            ("{\"output\":\"[57058] 2026-03-11 09:14:19 closed\"}", "{\"output\":\"[83] 2026-03-12 10:14:19 closed\"}"),
            ("sshd[4242]: closed", "sshd[91]: closed"),
            ("[13379] worker: broker closed", "[631] worker: broker closed"),
            ("{\"state\": \"up\", \"took_ms\": 14}", "{\"state\": \"up\", \"took_ms\": 44}"),
            ("{\"pid\": 5446, \"a\": 1}", "{\"pid\": 878, \"a\": 1}"),
            ("{\"duration_us\":5446,\"a\":1}", "{\"duration_us\":1878,\"a\":1}"),
            (
                "addr=0x30 pc=0xeae7ef] goroutine 2 [running]: +0x6c",
                "addr=0xf7 pc=0x120746] goroutine 50 [running]: +0x40",
            ),
            (
                "text <environment_details> Context: 21800 tokens </environment_details>",
                "text <environment_details> Context: 22700 tokens </environment_details>",
            ),
            ("1763423732 starting", "1763423999 starting"),
        ] {
            let (one_print, other_print) = (print_of(one), print_of(other));
            assert_eq!((one_print.shape, one_print.kept), (other_print.shape, other_print.kept), "{one:?} {other:?}");
        }
    }

    #[test]
    fn numbers_that_say_something_are_kept() {
        for (one, other) in [
            ("12 failed, 3 passed", "11 failed, 4 passed"),
            ("progress: 41%", "progress: 42%"),
            ("{\"page\":2,\"rows\":50}", "{\"page\":3,\"rows\":50}"),
            ("error at line main.rs:12:5", "error at line main.rs:19:5"),
            ("1,024 bytes written", "2,048 bytes written"),
            ("score 0.71", "score 0.72"),
            ("processed 1760213441 of 2100000000", "processed 1760213999 of 2100000000"),
            ("-rw-r--r-- 1 dev dev 1760213441 Mar 11 a.iso", "-rw-r--r-- 1 dev dev 1760219999 Mar 11 a.iso"),
            ("[12] rows", "[13] rows"),
            ("[14]<button>", "[15]<button>"),
            ("valid: 3", "valid: 4"),
        ] {
            let (one_print, other_print) = (print_of(one), print_of(other));
            assert_eq!(one_print.shape, other_print.shape, "{one:?} {other:?}");
            assert_ne!(one_print.kept, other_print.kept, "{one:?} {other:?}");
            assert_ne!(one_print.numbers, other_print.numbers, "{one:?} {other:?}");
        }
    }

    #[test]
    fn other_words_are_another_result() {
        for (one, other) in [("3 failed", "3 passed"), ("a b", "ab"), ("running", "done"), ("x.rs", "y.rs")] {
            assert_ne!(print_of(one).shape, print_of(other).shape, "{one:?} {other:?}");
        }
    }

    #[test]
    fn empty_result_is_marked_empty() {
        for text in ["", " \n", "\t"] {
            assert!(print_of(text).is_empty, "{text:?}");
        }
        assert!(!print_of("0").is_empty);
    }
}
