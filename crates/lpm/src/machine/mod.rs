//! What only the machine gives: memory that is reserved before it is used, and lookups compiled for what the
//! processor has. The crate's only unsafe code.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx512;
mod region;

pub(crate) use region::Region;

use crate::fib::Fib;
use crate::prefix::Key;

/// [`Fib::find`].
#[inline]
pub(crate) fn find<K: Key>(fib: &Fib<K>, addr: K) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if fib.processor.bits {
        // SAFETY: `bits` says that the processor has the features that the function is compiled for.
        return unsafe { find_bits(fib, addr) };
    }
    fib.find(addr)
}

/// [`Fib::find_all`].
#[inline]
pub(crate) fn find_all<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if fib.processor.vectors && addrs.len() > 1 {
        // SAFETY: `vectors` says that the processor has the features that the function is compiled for.
        return unsafe { avx512::find_all(fib, addrs, out) };
    } else if fib.processor.bits {
        // SAFETY: `bits` says that the processor has the features that the function is compiled for.
        return unsafe { find_all_bits(fib, addrs, out) };
    }
    fib.find_all(addrs, out);
}

/// What the processor has. Made by [`Processor::detect`] alone, or with less than that.
#[derive(Clone, Copy)]
pub(crate) struct Processor {
    /// Instructions that count and pick bits.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    bits: bool,
    /// Sixteen lookups in one register.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    vectors: bool,
}

impl Processor {
    /// Asks the system.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let bits = std::arch::is_x86_feature_detected!("popcnt")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2");
            Self { bits, vectors: bits && avx512::is_there() }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self { bits: false, vectors: false }
    }

    /// This processor and each lesser one.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let here = Self::detect();
        vec![here, Self { vectors: false, ..here }, Self { bits: false, vectors: false }]
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn find_bits<K: Key>(fib: &Fib<K>, addr: K) -> u32 {
    fib.find(addr)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn find_all_bits<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    fib.find_all(addrs, out);
}
