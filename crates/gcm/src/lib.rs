//! AES-GCM (NIST SP 800-38D) by the instructions that work on four blocks at a time: VAES and VPCLMULQDQ with AVX-512. For packets: a short text costs little
//! more than its blocks, and the key that it needs lies in five or six cache lines.
//!
//! The crate is one type, [`Key`], which is only there where the processor has these instructions. It is small, so that it can be reviewed: `wide.rs` has all
//! of the arithmetic. Its unsafe code is of two kinds: calls of functions that need instructions which were looked for when the key was made, and loads and stores
//! of vectors inside slices. Nothing depends on secrets but the values of registers: no branch, no address.
//!
//! # What makes it quick
//!
//! The check value is a sum of products of blocks with powers of one value. With the first powers at hand up to sixteen products and more are summed before
//! anything is reduced. What a packet needs is some hundred instructions without a loop that waits for itself, so that a processor works on the next
//! packet while this one's last product is under way: packets are interleaved although they are encrypted one by one.

#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
pub use wide::{Key, Short};

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(not(target_arch = "x86_64"))]
pub use absent::{Key, Short};

#[cfg(test)]
mod tests;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
