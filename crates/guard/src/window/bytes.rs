//! Variable-length numbers: seven bits per byte, the lowest first.

/// Writes bytes.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn word(&mut self, word: u64) {
        self.bytes(&word.to_le_bytes());
    }

    /// Writes a number that is usually small.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes a number that is usually near `base`.
    pub(super) fn difference(&mut self, number: i64, base: i64) {
        let difference = number.wrapping_sub(base);
        // The sign goes to the lowest bit, so that small negative numbers are small, too.
        self.number((difference << 1 ^ difference >> 63) as u64);
    }

    /// What was written. Copied, because an allocator that shrinks a block may leave it as large as
    /// it was.
    pub(super) fn finish(self) -> Box<[u8]> {
        self.0.as_slice().into()
    }
}

/// Reads what a [`Writer`] wrote; zeros past its end.
#[derive(Debug)]
pub(super) struct Reader<'b>(pub(super) &'b [u8]);

impl Reader<'_> {
    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let Some((bytes, rest)) = self.0.split_first_chunk::<N>() else { return [0; N] };
        self.0 = rest;
        *bytes
    }

    pub(super) fn word(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    pub(super) fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.bytes();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    pub(super) fn difference(&mut self, base: i64) -> i64 {
        let number = self.number();
        base.wrapping_add((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number: u64, signed: i64, base: i64) {
            let mut writer = Writer::default();
            writer.number(number);
            writer.difference(signed, base);
            writer.word(number);
            let bytes = writer.finish();
            let mut reader = Reader(&bytes);
            prop_assert_eq!((reader.number(), reader.difference(base), reader.word()), (number, signed, number));
            prop_assert!(reader.0.is_empty());
        }
    }
}
