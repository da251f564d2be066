//! A histogram of times whose buckets grow with the time: any percentile is known to within two percent, and two histograms
//! make one by adding their counts.

/// How much larger a bucket's end is than its beginning. A percentile is given as the middle of its bucket, so it is off by
/// half of that at most.
const GROWTH: f64 = 1.04;

/// How often times of about the same length were seen, by bucket, in rising order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch(Vec<(u32, u64)>);

impl Sketch {
    /// Counts a time.
    pub fn add(&mut self, millis: u64) {
        self.count(bucket(millis), 1);
    }

    /// Adds all that `other` counted.
    pub fn merge(&mut self, other: &Sketch) {
        for (bucket, count) in &other.0 {
            self.count(*bucket, *count);
        }
    }

    /// How many times were counted.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The time that this share of all (0.5 is the median) does not exceed, to within two percent; none if there are none.
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

    /// As a column: the distance to the bucket before and the count, in as few bytes as they take.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 2);
        let mut before = 0;
        for (bucket, count) in &self.0 {
            push(&mut bytes, u64::from(bucket - before));
            push(&mut bytes, *count);
            before = *bucket;
        }
        bytes
    }

    /// Reads the column; what cannot be read is left out.
    pub(crate) fn decode(mut bytes: &[u8]) -> Sketch {
        let (mut sketch, mut bucket) = (Sketch::default(), 0_u32);
        while let Some((distance, count)) = take(&mut bytes).zip(take(&mut bytes)) {
            let Some(next) = u32::try_from(distance).ok().and_then(|distance| bucket.checked_add(distance)) else {
                return sketch;
            };
            bucket = next;
            sketch.count(bucket, count);
        }
        sketch
    }
}

/// The bucket of a time: nothing, then one that grows after the other.
fn bucket(millis: u64) -> u32 {
    if millis == 0 { 0 } else { 1 + ((millis as f64).ln() / GROWTH.ln()).floor() as u32 }
}

/// The time in the middle of a bucket.
fn middle(bucket: u32) -> u64 {
    let Some(power) = bucket.checked_sub(1).and_then(|power| i32::try_from(power).ok()) else { return 0 };
    let from = GROWTH.powi(power);
    (from * (1.0 + GROWTH) / 2.0).round() as u64
}

/// Seven bits to a byte, the lowest first; the highest bit says that more follow.
fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
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

    fn sketch(times: &[u64]) -> Sketch {
        let mut sketch = Sketch::default();
        times.iter().for_each(|millis| sketch.add(*millis));
        sketch
    }

    proptest! {
        #[test]
        fn a_percentile_is_off_by_two_percent_at_most(mut times in prop::collection::vec(0_u64..10_000_000, 1..200), share in 0.0..=1.0_f64) {
            let estimate = sketch(&times).percentile(share).unwrap_or_default();
            times.sort_unstable();
            let rank = ((share * times.len() as f64).ceil() as usize).max(1);
            let exact = times[rank - 1];
            // Half a millisecond is lost in rounding.
            prop_assert!((estimate as f64 - exact as f64).abs() <= exact as f64 * 0.02 + 0.5, "{estimate} for {exact}");
        }

        #[test]
        fn two_make_one_and_a_column_keeps_it(left in prop::collection::vec(any::<u32>(), 0..50), right in prop::collection::vec(any::<u32>(), 0..50)) {
            let wide = |times: &[u32]| times.iter().map(|millis| u64::from(*millis)).collect::<Vec<_>>();
            let mut merged = sketch(&wide(&left));
            merged.merge(&sketch(&wide(&right)));
            prop_assert_eq!(&merged, &sketch(&wide(&[left, right].concat())));
            prop_assert_eq!(Sketch::decode(&merged.encode()), merged);
        }

        #[test]
        fn any_column_is_read(bytes: Vec<u8>) {
            Sketch::decode(&bytes);
        }
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!(Sketch::default().percentile(0.5), None);
        assert_eq!(sketch(&[u64::MAX]).total(), 1);
    }
}
