//! The parts of a name in camel case. Ids of mixed letters and digits have more of them than names.

/// How many parts a run has if it is read as a name: `getUser2` has three.
pub(super) fn parts(run: &[u8]) -> usize {
    let mut kinds = [Kind::Other; 2];
    let begins_part = |byte: &&u8| {
        let kind = Kind::of(**byte);
        let begins = kind.begins_part(kinds);
        kinds = [kinds[1], kind];
        begins
    };
    run.iter().filter(begins_part).count()
}

/// What a byte of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Capital,
    Small,
    Digit,
    Other,
}

impl Kind {
    fn of(byte: u8) -> Kind {
        match byte {
            b'A'..=b'Z' => Kind::Capital,
            b'a'..=b'z' => Kind::Small,
            b'0'..=b'9' => Kind::Digit,
            _ => Kind::Other,
        }
    }

    /// Whether a byte of this kind begins a part of a name after two bytes of the given kinds: a
    /// small letter continues the part of the capital before it, and of several capitals the last
    /// one begins the next part.
    fn begins_part(self, [earlier, before]: [Kind; 2]) -> bool {
        match (before, self) {
            (Kind::Capital, Kind::Small) => earlier == Kind::Capital,
            _ => self != before,
        }
    }
}
