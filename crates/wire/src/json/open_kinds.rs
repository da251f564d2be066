//! The kinds of the open containers.

/// The kinds of the open containers as bits: 1 is an object. The innermost is the lowest bit.
#[derive(Debug, Default)]
pub(super) struct OpenKinds {
    innermost: u128,
    /// The number of bits in use in `innermost`.
    held: u8,
    /// The containers further out, in full words. Hardly any body nests that deep, and an empty
    /// list does not allocate.
    outer: Vec<u128>,
}

impl OpenKinds {
    #[inline(always)]
    pub(super) fn push(&mut self, is_object: bool) {
        if self.held == 128 {
            self.outer.push(self.innermost);
            self.held = 0;
        }
        self.innermost = self.innermost << 1 | u128::from(is_object);
        self.held += 1;
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.innermost >>= 1;
        self.held -= 1;
        if self.held == 0
            && let Some(word) = self.outer.pop()
        {
            (self.innermost, self.held) = (word, 128);
        }
    }

    #[inline(always)]
    pub(super) fn in_object(&self) -> bool {
        self.innermost & 1 == 1
    }
}
