//! A histogram of latencies whose buckets grow with the latency: any percentile is exact to within
//! two percent, and two histograms are merged by adding their counts.

/// How much larger a bucket's end is than its beginning. A percentile is given as the middle of its
/// bucket, so it is off by half of that at most.
const GROWTH: f64 = 1.04;

/// The number of latencies in each bucket, in rising order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyHistogram(Vec<(u32, u64)>);

impl LatencyHistogram {
    /// Adds a latency.
    pub fn add(&mut self, millis: u64) {
        self.count(bucket(millis), 1);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        for (bucket, count) in &other.0 {
            self.count(*bucket, *count);
        }
    }

    /// The number of latencies.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The latency that this share of all (0.5 is the median) does not exceed, to within two
    /// percent; `None` if the histogram is empty.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        let rank = (share * self.total() as f64).ceil().max(1.0) as u64;
        let mut seen = 0_u64;
        let found = self.0.iter().find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        found.or(self.0.last()).map(|(bucket, _)| middle(*bucket))
    }

    fn count(&mut self, bucket: u32, count: u64) {
        match self.0.binary_search_by_key(&bucket, |(bucket, _)| *bucket) {
            Ok(place) => self.0[place].1 = self.0[place].1.saturating_add(count),
            Err(place) => self.0.insert(place, (bucket, count)),
        }
    }

    /// Encodes it for a column: for each bucket its distance to the one before and its count, as
    /// variable-length integers.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 2);
        let mut before = 0;
        for (bucket, count) in &self.0 {
            push_number(&mut bytes, u64::from(bucket - before));
            push_number(&mut bytes, *count);
            before = *bucket;
        }
        bytes
    }

    /// Decodes a column up to the first byte that is invalid.
    pub(crate) fn decode(mut bytes: &[u8]) -> LatencyHistogram {
        let (mut histogram, mut bucket) = (LatencyHistogram::default(), 0_u32);
        while let Some((distance, count)) = read_number(&mut bytes).zip(read_number(&mut bytes)) {
            let Some(next) = u32::try_from(distance).ok().and_then(|distance| bucket.checked_add(distance)) else {
                return histogram;
            };
            bucket = next;
            histogram.count(bucket, count);
        }
        histogram
    }
}

/// The bucket of a latency: one for zero, then buckets that grow.
fn bucket(millis: u64) -> u32 {
    if millis == 0 { 0 } else { 1 + ((millis as f64).ln() / GROWTH.ln()).floor() as u32 }
}

/// The latency in the middle of a bucket.
fn middle(bucket: u32) -> u64 {
    let Some(power) = bucket.checked_sub(1).and_then(|power| i32::try_from(power).ok()) else { return 0 };
    let from = GROWTH.powi(power);
    (from * (1.0 + GROWTH) / 2.0).round() as u64
}

/// Appends a variable-length integer: seven bits to a byte, the lowest first; the highest bit is
/// set if more follow.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (number, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    if length > 10 {
        return None;
    }
    Some(number.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(times: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        times.iter().for_each(|millis| histogram.add(*millis));
        histogram
    }

    proptest! {
        #[test]
        fn a_percentile_is_off_by_two_percent_at_most(mut times in prop::collection::vec(0_u64..10_000_000, 1..200), share in 0.0..=1.0_f64) {
            let estimate = histogram(&times).percentile(share).unwrap_or_default();
            times.sort_unstable();
            let rank = ((share * times.len() as f64).ceil() as usize).max(1);
            let exact = times[rank - 1];
            // Half a millisecond is lost in rounding.
            prop_assert!((estimate as f64 - exact as f64).abs() <= exact as f64 * 0.02 + 0.5, "{estimate} for {exact}");
        }

        #[test]
        fn merge_equals_adding_all_and_survives_encoding(left in prop::collection::vec(any::<u32>(), 0..50), right in prop::collection::vec(any::<u32>(), 0..50)) {
            let wide = |times: &[u32]| times.iter().map(|millis| u64::from(*millis)).collect::<Vec<_>>();
            let mut merged = histogram(&wide(&left));
            merged.merge(&histogram(&wide(&right)));
            prop_assert_eq!(&merged, &histogram(&wide(&[left, right].concat())));
            prop_assert_eq!(LatencyHistogram::decode(&merged.encode()), merged);
        }

        #[test]
        fn decode_accepts_any_bytes(bytes: Vec<u8>) {
            LatencyHistogram::decode(&bytes);
        }
    }

    #[test]
    fn empty_histogram_has_no_percentile() {
        assert_eq!(LatencyHistogram::default().percentile(0.5), None);
        assert_eq!(histogram(&[u64::MAX]).total(), 1);
    }
}
