//! Where packet data begins.

use std::fmt;

/// Where packet data begins in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alignment {
    /// Nothing is known or wanted.
    Unknown,
    /// At a multiple of the first number plus the second one, which is smaller.
    At(i64, i64),
    /// Any: there are no packets.
    Any,
    /// What is wanted contradicts itself.
    Impossible,
}

use Alignment::{Any, At, Impossible, Unknown};

impl Alignment {
    /// The modulus and the offset, which say nothing unless there is one.
    pub(super) fn parts(self) -> (i64, i64) {
        match self {
            At(modulus, offset) => (modulus, offset),
            _ => (1, 0),
        }
    }

    /// Whether packets that begin here are good where packets should begin there.
    pub(super) fn suits(self, wanted: Alignment) -> bool {
        match (self, wanted) {
            (Impossible, _) | (_, Impossible) => false,
            (Any, _) => true,
            (_, Any) => false,
            (_, Unknown | At(1, _)) => true,
            (Unknown, _) => false,
            (At(modulus, offset), At(wanted, place)) => modulus % wanted == 0 && offset % wanted == place,
        }
    }

    /// With the beginning moved on by so many bytes.
    pub(super) fn moved(self, bytes: i64) -> Alignment {
        match self {
            At(modulus, offset) => At(modulus, (offset + bytes).rem_euclid(modulus)),
            other => other,
        }
    }

    /// What is common to packets that begin here and packets that begin there.
    pub(super) fn either(self, other: Alignment) -> Alignment {
        match (self, other) {
            (Unknown, other) | (_, other @ Impossible) | (Any, other @ At(..)) => other,
            (At(a, place), At(b, other)) if a > 1 => {
                let modulus = divisor(a, b);
                let apart = (place - other).rem_euclid(modulus);
                let apart = apart.min(modulus - apart);
                match apart {
                    0 => At(modulus, place % modulus),
                    // Both are multiples of what they are apart, plus the same.
                    _ if modulus % apart == 0 => At(apart, place % apart),
                    _ => At(1, 0),
                }
            }
            (this, _) => this,
        }
    }

    /// What satisfies both.
    pub(super) fn both(self, other: Alignment) -> Alignment {
        match (self, other) {
            (Unknown, other) | (_, other @ Impossible) => other,
            (At(a, place), At(b, other_place)) => {
                if self.suits(other) {
                    return self;
                }
                if other.suits(self) {
                    return other;
                }
                let (small, (large, start)) =
                    if a < b { ((a, place), (b, other_place)) } else { ((b, other_place), (a, place)) };
                let multiple = a / divisor(a, b) * b;
                (start..multiple)
                    .step_by(large as usize)
                    .find(|offset| offset % small.0 == small.1)
                    .map_or(Impossible, |offset| At(multiple, offset))
            }
            (this, _) => this,
        }
    }
}

/// The greatest common divisor.
fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown => f.write_str("EMPTY"),
            At(modulus, offset) => write!(f, "{modulus}/{offset}"),
            Any => f.write_str("UNIVERSAL"),
            Impossible => f.write_str("BAD"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All small ones, compared with the sets of places that they stand for.
    #[test]
    fn arithmetic_agrees_with_sets_of_places() {
        let places = |alignment: Alignment| -> Vec<i64> {
            let (modulus, offset) = alignment.parts();
            (0..2520).filter(|place| alignment != Impossible && place % modulus == offset).collect()
        };
        let all: Vec<Alignment> = (1..=8).flat_map(|m| (0..m).map(move |o| At(m, o))).collect();
        for (&a, &b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let (in_a, in_b) = (places(a), places(b));
            assert_eq!(a.suits(b), in_a.iter().all(|place| in_b.contains(place)), "{a} suits {b}");
            let both: Vec<i64> = in_a.iter().copied().filter(|place| in_b.contains(place)).collect();
            assert_eq!(places(a.both(b)), both, "{a} and {b}");
            let either = places(a.either(b));
            assert!(in_a.iter().chain(&in_b).all(|place| either.contains(place)), "{a} or {b}");
        }
        assert_eq!(At(4, 2).moved(-14), At(4, 0));
        assert_eq!(At(4, 0).either(At(4, 2)), At(2, 0));
        assert_eq!(At(4, 1).both(At(5, 3)), At(20, 13));
    }
}
