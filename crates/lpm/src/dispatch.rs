//! Lookups compiled for what the processor has: counting bits in one instruction, where the portable code takes
//! a dozen. The crate's only unsafe code.
#![allow(unsafe_code)]

use crate::fib::Fib;
use crate::prefix::Key;

/// [`Fib::find`].
#[inline]
pub(crate) fn find<K: Key>(fib: &Fib, addr: K) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if fib.processor.bits {
        // SAFETY: `bits` says that the processor has the features that the function is compiled for.
        return unsafe { find_bits(fib, addr) };
    }
    fib.find(addr)
}

/// [`Fib::find_all`].
#[inline]
pub(crate) fn find_all<K: Key>(fib: &Fib, addrs: &[K], out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if fib.processor.bits {
        // SAFETY: `bits` says that the processor has the features that the function is compiled for.
        return unsafe { find_all_bits(fib, addrs, out) };
    }
    fib.find_all(addrs, out);
}

/// What the processor has.
pub(crate) struct Processor {
    /// Set by [`Processor::detect`] alone.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    bits: bool,
}

impl Processor {
    /// Asks the system.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        let bits = std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2");
        #[cfg(not(target_arch = "x86_64"))]
        let bits = false;
        Self { bits }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn find_bits<K: Key>(fib: &Fib, addr: K) -> u32 {
    fib.find(addr)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn find_all_bits<K: Key>(fib: &Fib, addrs: &[K], out: &mut [u32]) {
    fib.find_all(addrs, out);
}
