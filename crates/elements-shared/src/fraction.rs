//! Probabilities as Click keeps them: integers with some bits behind the point.

use router::{Cx, FromArg, Scope, parse_error};
use std::fmt;

/// A number that is not negative, in units of two to the power of minus `BITS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fraction<const BITS: u32>(u32);

impl<const BITS: u32> Fraction<BITS> {
    const ONE: u32 = 1 << BITS;

    /// What is missing to 1; `None` if it is larger.
    pub fn complement(self) -> Option<Self> {
        Self::ONE.checked_sub(self.0).map(Fraction)
    }

    /// Decides whether something that is as likely as this happens.
    #[inline]
    pub fn happens(self, cx: &mut Cx<'_>) -> bool {
        cx.rng().u32(..) & (Self::ONE - 1) < self.0
    }

    /// The nearest to a number that is not negative.
    pub fn of(value: f64) -> Self {
        Fraction(Self::round(value))
    }

    /// As a floating-point number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ONE)
    }

    fn round(value: f64) -> u32 {
        // The conversion saturates.
        (value * f64::from(Self::ONE)).round() as u32
    }
}

impl<const BITS: u32> FromArg for Fraction<BITS> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match f64::from_arg(text, scope)? {
            value if value < 0.0 => parse_error("number of at least 0", text),
            value => Ok(Self::of(value)),
        }
    }
}

/// The shortest decimal that stands for it.
impl<const BITS: u32> fmt::Display for Fraction<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value();
        let same = |text: &String| text.parse().is_ok_and(|shown: f64| Self::round(shown) == self.0);
        let shortest = (0..10).map(|digits| format!("{value:.digits$}")).find(same);
        f.write_str(&shortest.unwrap_or_else(|| value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is shown reads back as the same number.
        #[test]
        fn shown_and_read(units in 0..=1u32 << 28) {
            let text = Fraction::<28>(units).to_string();
            let read: f64 = text.parse().expect("a number");
            prop_assert_eq!(Fraction::<28>::round(read), units);
            prop_assert!(text.len() <= 11);
        }
    }
}
