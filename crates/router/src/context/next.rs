//! Where a packet that is alone goes, in a register.
//!
//! A [`Verdict`] takes three words, so that who returns one writes it to memory. A packet that is alone pays for that at each element; in
//! a batch, the verdict never leaves the element's loop.

use crate::context::cx::Cx;
use crate::context::verdict::Verdict;
use std::hint::cold_path;

/// Where a packet that is alone goes from an element: a [`Verdict`], whose reason the worker keeps, or that the element wants the packet
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next(u32);

impl Next {
    /// As [`Verdict::Pass`].
    pub(crate) const PASS: Next = Next(0);
    /// As [`Verdict::Drop`], for the reason that the worker keeps.
    pub(crate) const DROP: Next = Next(u32::MAX - 1);
    /// To the element itself.
    pub(crate) const STAY: Next = Next(u32::MAX);

    /// As [`Verdict::Output`]. Outputs beyond those that an element can have are one.
    #[inline]
    fn to(output: usize) -> Next {
        Next(output.min(u32::MAX as usize - 3) as u32 + 1)
    }

    /// The output, of a way that is one of [`Verdict::Output`].
    #[inline]
    pub(crate) fn output(self) -> usize {
        self.0.wrapping_sub(1) as usize
    }
}

impl Cx<'_> {
    /// The way that a verdict means; without one the element wants the packet.
    #[inline]
    pub(crate) fn next(&mut self, verdict: Option<Verdict>) -> Next {
        match verdict {
            Some(Verdict::Pass) => Next::PASS,
            Some(Verdict::Output(output)) => Next::to(output),
            Some(Verdict::Drop(reason)) => {
                cold_path();
                self.core.reason = reason;
                Next::DROP
            }
            None => Next::STAY,
        }
    }

    /// The verdict that the running element has just given in this form.
    pub(crate) fn verdict(&self, next: Next) -> Option<Verdict> {
        match next {
            Next::PASS => Some(Verdict::Pass),
            Next::DROP => Some(Verdict::Drop(self.core.reason)),
            Next::STAY => None,
            next => Some(Verdict::Output(next.output())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No output is taken for something else, not even one that no element has.
    #[test]
    fn outputs_are_outputs() {
        for output in [0, 1, 255, 65_535, u32::MAX as usize - 3] {
            assert_eq!(Next::to(output).output(), output);
        }
        for output in [u32::MAX as usize - 2, u32::MAX as usize, usize::MAX] {
            assert_eq!(Next::to(output).output(), u32::MAX as usize - 3);
        }
        for other in [Next::PASS, Next::DROP, Next::STAY] {
            assert!([0, 1, usize::MAX].iter().all(|&output| Next::to(output) != other));
        }
    }
}
